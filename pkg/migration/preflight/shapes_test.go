package preflight

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// of another provider of the catalogue, with Nodes of it.
func of(name, version, providerID string) func(*Facts) {
	return func(o *Facts) {
		facts, _ := provider.New().Facts(name, version)
		o.Provider, o.Cluster.Spec.Version = observation.Known(facts), version
		o.Server = observation.Known(Server{Version: "v" + version})
		nodes, details := append([]observation.Node{}, o.Nodes.Value()...), append([]NodeDetail{}, o.NodeDetails.Value()...)
		for i := range nodes {
			nodes[i].ProviderID, details[i].KubeletVersion = fmt.Sprintf(providerID, i), "v"+version
		}
		o.Nodes, o.NodeDetails = observation.Known(nodes), observation.Known(details)
		o.Volumes = observation.Known[[]Volume](nil)
		kcm(map[string]string{"cloud-provider": facts.InTreeName})(o)
	}
}

func withoutMachines(o *Facts) {
	o.Machines, o.Pools = observation.Absent[observation.Machines](), observation.Absent[[]Pool]()
	o.MachineController = noMachineController()
}

// shapes are clusters that people run and that nothing stands against.
func shapes() map[string]func(*Facts) {
	return map[string]func(*Facts){
		"a small one": func(*Facts) {},
		"one on AWS":  of("aws", "1.26.15", "aws:///eu-central-1a/i-0%d23456789abcdef0"),
		"one on Azure": of("azure", "1.29.1",
			"azure:///subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/vm-%d"),
		"one on Google's cloud": of("gcp", "1.30.14", "gce://project/europe-west3-a/vm-%d"),
		"one on vSphere":        of("vsphere", "1.29.1", "vsphere://4230%04d-6a7b-4c5d-8e6f-0a1b2c3d4e5f"),
		"one with regions": func(o *Facts) {
			id := "openstack://RegionOne/" + nodeID("1")[len("openstack:///"):]
			editFirst(&o.Nodes, func(n *observation.Node) { n.ProviderID = id })
		},
		"one without Nodes": func(o *Facts) {
			o.Nodes, o.NodeDetails, o.Attachments = observation.Known[[]observation.Node](nil), observation.Known[[]NodeDetail](nil),
				observation.Known[[]Attachment](nil)
		},
		"one without a machine-controller": withoutMachines,
		"one that makes routes":            kcm(map[string]string{"configure-cloud-routes": "true"}),
		"one whose network plugin allocates": func(o *Facts) {
			kcm(map[string]string{"allocate-node-cidrs": "false", "cluster-cidr": ""})(o)
			firstDetail(func(n *NodeDetail) { n.PodCIDRs = nil })(o)
		},
		"one with two families of addresses": func(o *Facts) {
			kcm(map[string]string{"cluster-cidr": "10.0.0.0/16,fd00::/48"})(o)
			firstDetail(func(n *NodeDetail) { n.PodCIDRs = []string{"10.0.1.0/24", "fd00:0:0:1::/64"} })(o)
		},
		"one with static pods": func(o *Facts) {
			controlPlane(func(c *observation.ControlPlane) {
				c.KCM.Pods = []observation.Process{
					{PodName: "kube-controller-manager-cp1", NodeName: "cp1", Hostname: "cp1.local", Arguments: c.KCM.Arguments},
				}
			})(o)
			lease(func(l *observation.Lease) { l.Holder = "cp1.local_9e1" })(o)
		},
		"one that was restarted a moment ago": lease(func(l *observation.Lease) { l.Holder, l.ChangedAt = "kcm-0_1", noon().Add(-20*time.Second) }),
		"one without a leader":                func(o *Facts) { o.KCMLease = observation.Absent[observation.Lease]() },
		"one with many load balancers": func(o *Facts) {
			var services []Service
			for i := range 200 {
				services = append(services,
					Service{Namespace: "default", Name: fmt.Sprintf("web-%d", i), Ingress: []string{fmt.Sprintf("192.0.2.%d", i)}})
			}
			o.Services = observation.Known(services)
		},
		"one whose load balancers are made by MetalLB": service(func(s *Service) { s.Class, s.Ingress = "metallb", nil }),
		"one with policies": func(o *Facts) {
			webhook(func(*Webhook) {})(o)
			webhook(func(w *Webhook) { w.Service, w.Ready = "", observation.Known(true) })(o)
		},
		"one with a budget that has no pods": budget(func(b *Budget) { b.Expected, b.Healthy, b.Allowed = 0, 0, 0 }),
		"one that is scaled and managed":     pool(func(p *Pool) { p.Autoscaled, p.Tool, p.Surge = true, "Flux", 5 }),
		"one with a paused and a lonely Machine": machines(func(m *observation.Machines) {
			m.Deployments[0].Paused = true
			m.Machines[0].Set = ""
		}),
		"one with a token for good": func(o *Facts) { o.Credentials = observation.Known(Credentials{}) },
		"one of zones that kept their old labels": func(o *Facts) {
			firstDetail(func(n *NodeDetail) { n.Labels = map[string]string{betaZoneLabel: "z1", betaRegionLabel: "r"} })(o)
		},
		"one that pulls public images": pods(Pods{Inline: map[string][]observation.Ref{cinder: {{Kind: "Pod", Namespace: "default", Name: "web"}}}}),
	}
}

// TestHealthyClustersAreNotHeldBack shows that there are no false alarms: whatever a healthy cluster is like, nothing blocks.
func TestHealthyClustersAreNotHeldBack(t *testing.T) {
	NewWithT(t).Expect(len(shapes())).To(BeNumerically(">=", 20))
	for name, shape := range shapes() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := healthy()
			shape(&o)
			for _, finding := range Judge(o, noon()) {
				g.Expect(messages.Unnamed(start.TextOf(finding).Words, finding.Named)).To(Succeed())
				g.Expect(finding.Blocks()).To(BeFalse(), finding.ID+": "+start.TextOf(finding).Words)
				g.Expect(finding.ID).NotTo(HaveSuffix("Malformed"), start.TextOf(finding).Words)
			}
		})
	}
}
