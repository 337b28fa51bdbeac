package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func withVolume(driver string) func(*Observation) {
	return func(o *Observation) {
		edit(&o.Inventory, func(i *observation.Inventory) {
			i.Volumes = append(i.Volumes, observation.Volume{Name: "late", UID: "late", Phase: "Bound", Driver: driver})
		})
	}
}

func withService(o *Observation) {
	edit(&o.Inventory, func(i *observation.Inventory) {
		i.LoadBalancers = append(i.LoadBalancers, observation.LoadBalancer{Namespace: "web", Name: "late", UID: "late"})
	})
}

func sharingNames(o *Observation) {
	edit(&o.Provider, func(p *observation.Provider) { p.SharesLoadBalancerNames = true })
}

func withMachine(machine observation.Machine) func(*Observation) {
	return func(o *Observation) {
		edit(&o.Machines, func(m *observation.Machines) {
			machine.Ref = observation.Ref{Kind: "Machine", Namespace: "kube-system", Name: "pet", UID: "pet"}
			machine.CreatedAt = ago(0)
			m.Machines = append(m.Machines, machine)
		})
	}
}

// judged is an observation and how the point of no return stands in it.
type judged struct {
	given func() Observation
	when  func(*Observation)
	state ucv1.PointOfNoReturnState
	says  string
}

func runJudged(t *testing.T, tests map[string]judged) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := test.given()
			if test.when != nil {
				test.when(&o)
			}
			seen := Decide(o, noon()).PointOfNoReturn
			if test.state == "" {
				g.Expect(seen).To(BeNil())
				return
			}
			g.Expect(seen.State).To(Equal(test.state), seen.Reason)
			g.Expect(seen.Reason).To(ContainSubstring(test.says))
			if test.state != ucv1.PointOfNoReturnPassed {
				g.Expect(seen.Next).NotTo(BeEmpty(), "what would pass it is said before")
			}
		})
	}
}

func TestPointOfNoReturn(t *testing.T) {
	runJudged(t, map[string]judged{
		"a cluster that waits for its start has none": {given: fresh, when: func(o *Observation) {
			o.Nodes = observation.Unknown[[]observation.Node]("timeout")
			o.Connection.Reachable = false
		}},
		"a cluster that was created so has none": {given: external},
		"a started migration can be rolled back": {given: starting, state: ucv1.PointOfNoReturnAhead},
		"a hand-over can be rolled back":         {given: fenced, state: ucv1.PointOfNoReturnAhead},
		"a roll can be rolled back":              {given: rolling, state: ucv1.PointOfNoReturnAhead},
		"external Machines can be replaced":      {given: verifying, state: ucv1.PointOfNoReturnAhead},
		"completion is for good":                 {given: finished, state: ucv1.PointOfNoReturnPassed, says: "completed at"},
		"a volume of another driver is not ours": {given: verifying, when: withVolume("nfs"), state: ucv1.PointOfNoReturnAhead},
		"a volume that only the driver can serve": {
			given: verifying,
			when:  withVolume("cinder.csi.openstack.org"),
			state: ucv1.PointOfNoReturnPassed,
			says:  "PersistentVolume late",
		},
		"the canary's volume and Service go again": {
			given: verifying, when: func(o *Observation) {
				withVolume("cinder.csi.openstack.org")(o)
				withService(o)
				edit(&o.Inventory, func(i *observation.Inventory) {
					last := &i.LoadBalancers[len(i.LoadBalancers)-1]
					last.Namespace, last.Name = ucv1.CanaryNamespace, ucv1.CanaryName
					i.Volumes[len(i.Volumes)-1].Claim = ucv1.CanaryNamespace + "/" + ucv1.CanaryName
				})
			}, state: ucv1.PointOfNoReturnAhead,
		},
		"a Service that is new, where names differ": {
			given: verifying,
			when:  withService,
			state: ucv1.PointOfNoReturnPassed,
			says:  "Service web/late",
		},
	})
}

func TestPointOfNoReturnOfVolumesAndLoadBalancers(t *testing.T) {
	runJudged(t, map[string]judged{
		"a driver that is someone else's stays, and its volumes": {
			given: verifying, when: func(o *Observation) {
				withVolume("cinder.csi.openstack.org")(o)
				o.Addons = observation.Known(observation.Addons{CSI: observation.AddonSet{SatisfiedBy: "helm"}})
			}, state: ucv1.PointOfNoReturnAhead,
		},
		"a Service that is new, where names are the same": {
			given: verifying, when: func(o *Observation) { withService(o); sharingNames(o) }, state: ucv1.PointOfNoReturnAhead,
		},
		"names are not the same under another cluster name": {
			given: verifying, when: func(o *Observation) {
				withService(o)
				sharingNames(o)
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["cluster-name"] = "other" })
			}, state: ucv1.PointOfNoReturnPassed, says: "Service web/late",
		},
		"a Service that got its first address from the CCM": {
			given: verifying, when: func(o *Observation) {
				before := o.Inventory.Value()
				before.LoadBalancers = []observation.LoadBalancer{{Namespace: "web", Name: "front", UID: "lb"}}
				o.Baseline, o.Cluster.Status.Baseline.Digest = observation.Known(before), before.Digest()
			}, state: ucv1.PointOfNoReturnPassed, says: "Service web/front",
		},
	})
}

func TestPointOfNoReturnOfMachines(t *testing.T) {
	runJudged(t, map[string]judged{
		"an external Machine that stands alone": {
			given: verifying,
			when:  withMachine(observation.Machine{Annotation: "true"}),
			state: ucv1.PointOfNoReturnPassed,
			says:  "Machine kube-system/pet",
		},
		"an external Machine that is going anyway": {
			given: verifying, when: withMachine(observation.Machine{Annotation: "true", Deleting: true}), state: ucv1.PointOfNoReturnAhead,
		},
		"an in-tree Machine that stands alone": {
			given: verifying, when: withMachine(observation.Machine{Annotation: "false"}), state: ucv1.PointOfNoReturnAhead,
		},
		"a Machine of a MachineSet without MachineDeployment that was made since, whatever its annotation says": {
			given: verifying, when: func(o *Observation) {
				withMachine(observation.Machine{Set: "stray"})(o)
				edit(&o.Machines, func(m *observation.Machines) {
					m.Sets = append(m.Sets, observation.MachineSet{Ref: observation.Ref{UID: "stray"}, CreatedAt: ago(0)})
				})
			}, state: ucv1.PointOfNoReturnPassed, says: "Machine kube-system/pet",
		},
	})
}

func TestPointOfNoReturnOfTheControlPlane(t *testing.T) {
	runJudged(t, map[string]judged{
		"a minor without in-tree provider": {
			given: verifying,
			when:  func(o *Observation) { o.Cluster.Spec.Version = "1.26.1" },
			state: ucv1.PointOfNoReturnPassed,
			says:  "1.25 is the last",
		},
		"a KCM without in-tree provider": {
			given: verifying, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["cloud-provider"] = "external" })
			}, state: ucv1.PointOfNoReturnPassed, says: "does not run in-tree provider openstack",
		},
		"volume plugins that are unregistered": {
			given: verifying, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["feature-gates"] = "A=true,InTreePluginOpenStackUnregister=true"
				})
			}, state: ucv1.PointOfNoReturnPassed, says: "InTreePluginOpenStackUnregister",
		},
		"volume plugins that were unregistered before": {
			given: verifying, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) {
					c.KCM.Arguments.Flags["feature-gates"] = "InTreePluginOpenStackUnregister=true"
				})
				o.Cluster.Status.Handover.Original[0].FeatureGates = new("InTreePluginOpenStackUnregister=true")
			}, state: ucv1.PointOfNoReturnAhead,
		},
		"a baseline that was changed says nothing": {
			given: verifying, when: func(o *Observation) { edit(&o.Baseline, func(i *observation.Inventory) { i.Volumes = nil }) },
			state: ucv1.PointOfNoReturnUnknown, says: "is not the one that was taken",
		},
		"what passed it outweighs what could not be looked at": {
			given: verifying, when: func(o *Observation) {
				withMachine(observation.Machine{Annotation: "true"})(o)
				o.Inventory = observation.Unknown[observation.Inventory]("timeout")
			}, state: ucv1.PointOfNoReturnPassed,
		},
	})
}

func TestWhatIsUnknownIsNoPointOfNoReturnAhead(t *testing.T) {
	for _, fact := range []string{"Provider", "ControlPlane", "Machines", "Inventory", "Baseline"} {
		t.Run("without "+fact, func(t *testing.T) {
			o := verifying()
			lose(false)[fact](&o)
			NewWithT(t).Expect(Decide(o, noon()).PointOfNoReturn.State).To(Equal(ucv1.PointOfNoReturnUnknown))
		})
	}
}

func TestTheMomentOfThePointOfNoReturn(t *testing.T) {
	g := NewWithT(t)
	o := verifying()
	withMachine(observation.Machine{Annotation: "true"})(&o)
	g.Expect(Decide(o, noon()).Facts.PointOfNoReturnAt.Time).To(Equal(noon()))

	o = soaked()
	o.Cluster.Status.StableSince = stampAgo(0)
	o.Cluster.Status.PointOfNoReturnAt = stampAgo(1)
	g.Expect(Decide(o, noon()).Facts.PointOfNoReturnAt).To(BeNil(), "what passed it was taken away again")
	o.Inventory = observation.Unknown[observation.Inventory]("timeout")
	facts := Decide(o, noon()).Facts
	g.Expect(facts == nil || facts.PointOfNoReturnAt != nil).To(BeTrue(), "what could not be looked at changes nothing")
}

func TestPauseBeforeThePointOfNoReturn(t *testing.T) {
	paused := func(o *Observation) { o.Cluster.Spec.Handover.PauseBeforePointOfNoReturn = true }
	runDecisions(t, map[string]decision{
		"the controller waits for a person before it completes": {
			given: soaked,
			when:  paused,
			step:  ucv1.StepComplete,
			wait:  ucv1.WaitingBeforePointOfNoReturnReason,
			says:  []string{"pauseBeforePointOfNoReturn is false"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.CompletedAt).To(BeNil()) },
		},
		"when it is passed already there is nothing to wait for": {
			given: soaked, when: func(o *Observation) {
				paused(o)
				withMachine(observation.Machine{Annotation: "true"})(o)
				withNode(o)
			},
			step: ucv1.StepComplete, action: outcome.ActionRecord,
		},
		"what is completed goes on": {given: completed, when: paused, step: ucv1.StepFinalize, action: outcome.ActionChangeArguments},
	})
}

// withNode is the Node of the Machine that stands alone.
func withNode(o *Observation) {
	edit(&o.Machines, func(m *observation.Machines) { m.Machines[len(m.Machines)-1].NodeName = "n2" })
	node := provenNode("n2")
	node.CreatedAt = ago(0)
	edit(&o.Nodes, func(nodes *[]observation.Node) { *nodes = append(*nodes, node) })
	o.Cluster.Status.PointOfNoReturnAt = stampAgo(1)
}

func TestTheOriginalArgumentsAreKeptBeforeTheyAreChanged(t *testing.T) {
	runDecisions(t, map[string]decision{
		"they are kept with the processes": {
			given: func() Observation {
				o := loud()
				o.Cluster.Status.Handover.StartedAt, o.Cluster.Status.Handover.Original = nil, nil
				o.Cluster.Status.Handover.ProbedAt = stampAgo(time.Minute)
				return o
			},
			step: ucv1.StepHandover, line: "ProcessesRecorded", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Handover.Original).To(
					Equal([]ucv1.OriginalArguments{{Deployment: "kube-controller-manager", Controllers: new("*,tokencleaner")}}),
				)
			},
		},
		"what someone changed in between is kept first": {
			given: loud, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments.Flags["controllers"] = "*" })
			},
			step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(*f.Handover.Original[0].Controllers).To(Equal("*"))
				g.Expect(f.Handover.LoopsOffAt).To(BeNil())
			},
		},
	})
}
