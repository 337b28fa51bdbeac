package preflight

import (
	"maps"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

const cinder = "kubernetes.io/cinder"

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func nodeID(digit string) string {
	return "openstack:///" + digit + "d1e5e0c-5a4b-4c5d-8e6f-0a1b2c3d4e5f"
}

// healthy is a cluster that nothing stands against.
func healthy() Facts {
	flags := map[string]string{
		"cloud-provider": "openstack", "cluster-name": "alpha", "allocate-node-cidrs": "true", "cluster-cidr": "10.0.0.0/16",
		"configure-cloud-routes": "false",
	}
	kcm := observation.Component{
		Ref: observation.Ref{
			Kind: "Deployment", Namespace: "user-alpha", Name: "kube-controller-manager",
		}, Container: "kube-controller-manager",
		Arguments: observation.Arguments{Flags: flags}, RolledOut: true, Replicas: 1,
		Pods: []observation.Process{
			{PodName: "kcm-1", NodeName: "m1", Arguments: observation.Arguments{Flags: flags}, Started: true, Ready: true},
		},
	}
	return Facts{
		Cluster: &ucv1.Cluster{Spec: ucv1.ClusterSpec{Version: "1.25.16"}},
		Provider: observation.Known(observation.Provider{
			Name: "openstack", InTreeName: "openstack", ProviderIDPrefix: "openstack://", ProviderIDForm: "^openstack://([^/]*)/([^/]+)$",
			MigratedPlugins: []string{cinder}, InTreePlugins: []string{cinder}, SharesLoadBalancerNames: true,
		}),
		CloudConfig:  observation.Known(observation.CloudConfig{}),
		ControlPlane: observation.Known(observation.ControlPlane{KCM: kcm}),
		MachineController: observation.Known(
			[]observation.MachineControllerDeployment{{Program: observation.MachineController, Flag: "-node-external-cloud-provider"}},
		),
		KCMLease: observation.Known(observation.Lease{
			Ref: observation.Ref{
				Kind: "Lease", Namespace: "kube-system", Name: "kube-controller-manager",
			}, Holder: "kcm-1_2f6c", DurationSeconds: 15,
			ChangedAt: noon().Add(-time.Second), WatchedAt: noon().Add(-time.Hour),
		}),
		Machines: observation.Known(observation.Machines{
			Deployments: []observation.MachineDeployment{{Ref: poolRef(), Replicas: 2}},
			Machines:    []observation.Machine{machine("n1"), machine("n2")},
		}),
		Nodes: observation.Known([]observation.Node{node("n1", nodeID("1")), node("n2", nodeID("2"))}),
		Read: Read{
			NodeDetails: observation.Known([]NodeDetail{detail("n1", "10.0.1.0/24"), detail("n2", "10.0.2.0/24")}),
			Services:    observation.Known[[]Service](nil),
			Volumes: observation.Known([]Volume{
				{Name: "data", Phase: "Bound", Plugin: cinder, Terms: []Term{{zoneLabel: {"z1"}}}}, {Name: "local", Phase: "Bound"},
			}),
			Attachments: observation.Known([]Attachment{{Name: "a1", Attacher: "csi.example", Node: "n1"}}),
			StorageClasses: observation.Known(
				[]observation.StorageClass{{Ref: observation.Ref{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner"}},
			),
			Pods:     observation.Known(Pods{}),
			Budgets:  observation.Known([]Budget{{Namespace: "default", Name: "web", Expected: 3, Healthy: 3, Allowed: 1}}),
			Pools:    observation.Known([]Pool{{Ref: poolRef(), Write: observation.Known(Write{})}}),
			Webhooks: observation.Known[[]Webhook](nil),
			Denied:   observation.Known[[]string](nil),
			Credentials: observation.Known(
				Credentials{
					Expires: noon().AddDate(1, 0, 0), Source: observation.Ref{Kind: "Secret", Namespace: "user-alpha", Name: "alpha-kubeconfig"},
				},
			),
			Server: observation.Known(Server{Version: "v1.25.16", Skew: time.Second}),
			Cloud:  observation.Known(Cloud{}),
		},
	}
}

func poolRef() observation.Ref {
	return observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "workers"}
}

func machine(node string) observation.Machine {
	return observation.Machine{
		Ref: observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "m-" + node}, Set: "set", NodeName: node,
	}
}

func node(name, providerID string) observation.Node {
	return observation.Node{
		Name: name, ProviderID: providerID, Ready: true, Addresses: []string{"Hostname " + name, "InternalIP 10.1.0.1"},
	}
}

func detail(name, cidr string) NodeDetail {
	return NodeDetail{
		Name: name, PodCIDRs: []string{cidr}, KubeletVersion: "v1.25.16",
		Labels: map[string]string{"kubernetes.io/hostname": name, zoneLabel: "z1", betaZoneLabel: "z1"},
	}
}

// edit changes a known fact.
func edit[T any](fact *observation.Observed[T], change func(*T)) {
	value := fact.Value()
	change(&value)
	*fact = observation.Known(value)
}

// editFirst changes the first of a list without changing the list of others.
func editFirst[T any](fact *observation.Observed[[]T], change func(*T)) {
	list := append([]T{}, fact.Value()...)
	change(&list[0])
	*fact = observation.Known(list)
}

// kcm changes the flags of KCM, in its template only.
func kcm(flags map[string]string) func(*Facts) {
	return func(o *Facts) {
		edit(&o.ControlPlane, func(c *observation.ControlPlane) {
			merged := map[string]string{}
			maps.Copy(merged, c.KCM.Arguments.Flags)
			maps.Copy(merged, flags)
			c.KCM.Arguments = observation.Arguments{Flags: merged}
			pods := append([]observation.Process{}, c.KCM.Pods...)
			for i := range pods {
				pods[i].Arguments = c.KCM.Arguments
			}
			c.KCM.Pods = pods
		})
	}
}

func blind[T any](fact *observation.Observed[T]) { *fact = observation.Unknown[T]("timeout") }
