package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// unproven is ready to roll, but for the canary.
func unproven() Observation {
	o := rolling()
	o.Cluster.Status.Canary = nil
	return o
}

// begun has recorded its canary five minutes ago, and made nothing of it.
func begun() Observation {
	o := unproven()
	o.Cluster.Status.Canary = &ucv1.CanaryStatus{
		MachineDeployment: "kube-system/workers", Attempt: 1, StartedAt: stampAgo(5 * time.Minute),
	}
	o.StorageClasses = observation.Known(
		[]observation.StorageClass{
			{Ref: observation.Ref{Kind: "StorageClass", Name: "cinder"}, Provisioner: "cinder.csi.openstack.org"},
		},
	)
	return o
}

// made has a canary with everything that is asked for.
func made() Observation {
	o := begun()
	edit(&o.Machines, func(m *observation.Machines) {
		m.Deployments = append(m.Deployments, observation.MachineDeployment{
			Ref: observation.Ref{
				Kind: "MachineDeployment", Namespace: "kube-system", Name: ucv1.CanaryName, UID: "canary",
			}, Replicas: 1, Guard: observation.Guard{Canary: true},
		})
		m.Sets = append(
			m.Sets, observation.MachineSet{
				Ref: observation.Ref{
					Kind: "MachineSet", Name: "c", UID: "canary-set",
				}, Deployment: "canary", CreatedAt: ago(5 * time.Minute), Current: true,
			},
		)
		m.Machines = append(m.Machines, observation.Machine{
			Ref: observation.Ref{
				Kind: "Machine", Namespace: "kube-system", Name: "canary-a", UID: "canary-a",
			}, Set: "canary-set", Annotation: "true", NodeName: "canary-a",
			CreatedAt: ago(5 * time.Minute), OfCanary: true,
		})
	})
	edit(&o.Nodes, func(n *[]observation.Node) {
		(*n)[0].Labels = map[string]string{"topology.kubernetes.io/zone": "a"}
		node := provenNode("canary-a")
		node.CreatedAt = ago(4 * time.Minute)
		node.Addresses, node.Labels = []string{
			"Hostname canary-a", "InternalIP 10.0.0.9",
		}, map[string]string{"topology.kubernetes.io/zone": "a"}
		*n = append(*n, node)
	})
	o.Canary = observation.Known(observation.CanaryWorkload{
		Objects: canaryObjects(
			"Pod", "PersistentVolumeClaim", "Service",
		), PodNode: "canary-a", PodReady: true, Volume: "pv-canary", Attached: true,
		Ingress: []string{"192.0.2.7"},
	})
	return o
}

func canaryObjects(kinds ...string) []observation.CanaryObject {
	var objects []observation.CanaryObject
	for _, kind := range kinds {
		objects = append(
			objects, observation.CanaryObject{
				Ref: observation.Ref{Kind: kind, Namespace: "kube-system", Name: ucv1.CanaryName, UID: kind},
			},
		)
	}
	return objects
}

func workload(change func(*observation.CanaryWorkload)) func(*Observation) {
	return func(o *Observation) { edit(&o.Canary, change) }
}

func canaryNode(change func(*observation.Node)) func(*Observation) {
	return func(o *Observation) { edit(&o.Nodes, func(n *[]observation.Node) { change(&(*n)[1]) }) }
}

func lacking(when func(*Observation), says string) decision {
	return decision{given: made, when: when, step: ucv1.StepRoll, wait: ucv1.ProvingCanaryReason, says: []string{says}}
}

// withCanary adds all that made has of it.
func withCanary(o *Observation) {
	with := made()
	o.Canary, o.Cluster.Status.Canary = with.Canary, with.Cluster.Status.Canary
	edit(&o.Machines, func(m *observation.Machines) {
		theirs := with.Machines.Value()
		m.Deployments, m.Sets, m.Machines = append(
			m.Deployments, theirs.Deployments[1:]...,
		), append(m.Sets, theirs.Sets[1:]...), append(m.Machines, theirs.Machines[1:]...)
	})
	edit(&o.Nodes, func(n *[]observation.Node) { *n = append(*n, with.Nodes.Value()[1:]...) })
}

func TestCanaryComesFirst(t *testing.T) {
	kind := func(kind ucv1.CanaryKind) func(*Observation) {
		return func(o *Observation) { o.Cluster.Spec.Rollout.Canary = kind }
	}
	planned := func(o *Observation) {}
	runDecisions(t, map[string]decision{
		"it is recorded before it is made": {
			given: unproven, step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"a canary of MachineDeployment kube-system/workers"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(*f.Canary).To(Equal(ucv1.CanaryStatus{MachineDeployment: "kube-system/workers", Attempt: 1, StartedAt: stampAgo(0)}))
			},
		},
		"it is made of the MachineDeployment that is rolled first": {
			given: begun, when: planned, step: ucv1.StepRoll, action: outcome.ActionCreateCanary,
			says:  []string{"as MachineDeployment kube-system/workers would"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Canary.WithoutProof).To(BeEmpty()) },
		},
		"what is missing of it is made": {
			given: made, when: workload(func(w *observation.CanaryWorkload) { w.Objects = canaryObjects("Pod", "PersistentVolumeClaim") }),
			step: ucv1.StepRoll, action: outcome.ActionCreateCanary,
		},
		"without a StorageClass of the driver and without a load balancer it does without, and says so": {
			given: begun, when: func(o *Observation) {
				o.StorageClasses = observation.Known([]observation.StorageClass{{Provisioner: "elsewhere"}})
				edit(&o.Baseline, func(i *observation.Inventory) { i.LoadBalancers = nil })
				o.Cluster.Status.Baseline.Digest = o.Baseline.Value().Digest()
			},
			step: ucv1.StepRoll, action: outcome.ActionCreateCanary,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Canary.WithoutProof).To(HaveLen(2)) },
		},
		"its MachineDeployment went: another one is taken": {
			given: begun, when: func(o *Observation) { o.Cluster.Status.Canary.MachineDeployment = "kube-system/gone" },
			step: ucv1.StepRoll, action: outcome.ActionRecord, says: []string{"kube-system/workers"},
		},
		"no one wants one": {given: unproven, when: kind(ucv1.NoCanary), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment},
		"the first MachineDeployment is the canary": {
			given: unproven, when: kind(ucv1.CanaryMachineDeployment), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"a MachineDeployment without Machines needs none": {
			given: unproven, when: machines(func(m *observation.Machines) { m.Deployments[0].Replicas, m.Machines = 0, nil }),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"classes that cannot be looked at are not taken for none": {
			given: begun, when: func(o *Observation) { o.StorageClasses = observation.Unknown[[]observation.StorageClass]("timeout") },
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
		},
		"nor is a baseline": {
			given: begun, when: func(o *Observation) { o.Baseline = observation.Unknown[observation.Inventory]("timeout") },
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
		},
		"nor its workload": {
			given: made, when: func(o *Observation) { o.Canary = observation.Unknown[observation.CanaryWorkload]("timeout") },
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
		},
	})
}

func TestCanaryIsProven(t *testing.T) {
	runDecisions(t, map[string]decision{
		"everything is there": {
			given: made, step: ucv1.StepRoll, action: outcome.ActionRecord, says: []string{"the canary is proven"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Canary.ProvenAt).To(Equal(stampAgo(0))) },
		},
		"it lacks a Machine": lacking(machines(func(m *observation.Machines) { m.Machines = m.Machines[:1] }), "its Machine is not made"),
		"it lacks a Node, and its Machine says why": lacking(machines(func(m *observation.Machines) {
			m.Machines[1].NodeName, m.Machines[1].Problem = "", "CreateError: quota"
		}), "Machine kube-system/canary-a has no Node; CreateError: quota"),
		"the webhook has no flag":    lacking(machines(func(m *observation.Machines) { m.Machines[1].Annotation = "false" }), "not marked as external"),
		"it is tainted":              lacking(canaryNode(func(n *observation.Node) { n.Uninitialized = true }), "Node canary-a still has taint"),
		"it has no providerID":       lacking(canaryNode(func(n *observation.Node) { n.ProviderID = "" }), "has no providerID"),
		"it is not Ready":            lacking(canaryNode(func(n *observation.Node) { n.Ready = false }), "is not Ready"),
		"nothing proves its kubelet": lacking(canaryNode(func(n *observation.Node) { n.Kubelet = observation.Kubelet{} }), "shows no proof that its kubelet is external"),
		"its kubelet is in-tree": lacking(canaryNode(func(n *observation.Node) {
			n.Kubelet = observation.Kubelet{InTree: "it set its providerID itself"}
		}),
			"has a kubelet with the in-tree cloud provider"),
		"it has no CSI driver":          lacking(canaryNode(func(n *observation.Node) { n.CSIDrivers = nil }), "does not register CSI driver"),
		"it has a host name only":       lacking(canaryNode(func(n *observation.Node) { n.Addresses = n.Addresses[:1] }), "has no address"),
		"it lacks a label of the cloud": lacking(canaryNode(func(n *observation.Node) { n.Labels = nil }), "lacks labels that the other Nodes have: topology.kubernetes.io/zone"),
		"its pod waits": lacking(workload(func(w *observation.CanaryWorkload) { w.PodReady, w.PodProblem = false, "ImagePullBackOff" }),
			"its pod does not run on the Node: ImagePullBackOff"),
		"its pod runs elsewhere":      lacking(workload(func(w *observation.CanaryWorkload) { w.PodNode = "n1" }), "its pod does not run on the Node"),
		"its volume is not there":     lacking(workload(func(w *observation.CanaryWorkload) { w.Volume = "" }), "its volume is not provisioned"),
		"its volume is not there yet": lacking(workload(func(w *observation.CanaryWorkload) { w.Attached = false }), "volume pv-canary is not attached"),
		"no load balancer":            lacking(workload(func(w *observation.CanaryWorkload) { w.Ingress = nil }), "its Service has no load balancer"),
	})
}

func TestCanaryFails(t *testing.T) {
	tainted := canaryNode(func(n *observation.Node) { n.Uninitialized = true })
	since := func(start, failed time.Duration) func(*Observation) {
		return func(o *Observation) {
			o.Cluster.Status.Canary.StartedAt, o.Cluster.Status.Canary.FailedAt = stampAgo(start), stampAgo(failed)
		}
	}
	runDecisions(t, map[string]decision{
		"its deadline passes": {
			given: made, when: both(tainted, func(o *Observation) { o.Cluster.Status.Canary.StartedAt = stampAgo(time.Hour) }),
			step: ucv1.StepRoll, action: outcome.ActionRecord, says: []string{"not proven in time"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Canary.FailedAt).To(Equal(stampAgo(0))) },
		},
		"a person is called, and can look at it": {
			given: made, when: both(tainted, since(time.Hour, time.Minute)), step: ucv1.StepRoll, fails: ucv1.CanaryFailedReason,
			says: []string{"no other Machine was touched: Node canary-a still has taint", "it is kept until 2026-01-01T12:09:00Z"},
		},
		"it is proven late": {
			given: made, when: since(time.Hour, time.Minute), step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"the canary is proven"},
		},
		"then it is taken away": {
			given: made, when: both(tainted, since(time.Hour, 11*time.Minute)), step: ucv1.StepRoll, action: outcome.ActionRemoveCanary,
		},
		"and made again": {
			given: begun, when: since(time.Hour, 11*time.Minute), step: ucv1.StepRoll, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(*f.Canary).To(Equal(ucv1.CanaryStatus{MachineDeployment: "kube-system/workers", Attempt: 2, StartedAt: stampAgo(0)}))
			},
		},
	})
}

func TestTheCanarysVolumeGoesWithItsClaim(t *testing.T) {
	class := func(name string, retains bool) observation.StorageClass {
		return observation.StorageClass{
			Ref: observation.Ref{Kind: "StorageClass", Name: name}, Provisioner: "cinder.csi.openstack.org", Retains: retains,
		}
	}
	for name, test := range map[string]struct {
		classes []observation.StorageClass
		want    string
	}{
		"the first by name":                  {[]observation.StorageClass{class("b", false), class("a", false)}, "a"},
		"none whose volumes would stay":      {[]observation.StorageClass{class("a", true), class("b", false)}, "b"},
		"no volume where all of them would":  {[]observation.StorageClass{class("a", true)}, ""},
		"the catalogue's if it is like that": {[]observation.StorageClass{class("a", false), class(finished().Provider.Value().DefaultClass.Name, false)}, finished().Provider.Value().DefaultClass.Name},
	} {
		t.Run(name, func(t *testing.T) {
			o := begun()
			o.StorageClasses = observation.Known(test.classes)
			NewWithT(t).Expect(Decide(o, noon()).Next()).To(HaveField("Canary.StorageClass", test.want))
		})
	}
}

func TestTheCanarysServiceIsMadeLast(t *testing.T) {
	withoutService := workload(func(w *observation.CanaryWorkload) {
		w.Objects, w.Ingress = canaryObjects("Pod", "PersistentVolumeClaim"), nil
	})
	for name, test := range map[string]struct {
		given func() Observation
		when  func(*Observation)
		kinds []string
	}{
		"it is not made with the canary": {begun, func(*Observation) {}, []string{"Pod", "PersistentVolumeClaim"}},
		"it waits for the Node": {
			made, both(withoutService, canaryNode(func(n *observation.Node) { n.Uninitialized = true })), nil,
		},
		"it waits for the pod": {
			made, both(withoutService, workload(func(w *observation.CanaryWorkload) { w.PodReady = false })), nil,
		},
		"it is made when all else is proven": {made, withoutService, []string{"Pod", "PersistentVolumeClaim", "Service"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, g := test.given(), NewWithT(t)
			test.when(&o)
			decided := Decide(o, noon())
			if test.kinds == nil {
				g.Expect(decided.Next()).To(BeNil())
				g.Expect(decided.Wait).To(HaveField("Reason", ucv1.ProvingCanaryReason))
				return
			}
			g.Expect(decided.Next()).To(HaveField("Kind", outcome.ActionCreateCanary))
			g.Expect(decided.Next().Canary.Kinds()).To(ConsistOf(test.kinds))
		})
	}
}

func TestCanaryIsNoneOfTheMachines(t *testing.T) {
	g := NewWithT(t)
	with, ok := rollout.ProgressOf(made(), noon())
	g.Expect(ok).To(BeTrue())
	without, _ := rollout.ProgressOf(begun(), noon())
	g.Expect(with.Machines).To(Equal(without.Machines))
	g.Expect(with.MachineDeployments).To(Equal(without.MachineDeployments))
}
