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

// booted is a roll in which workers was rolled, and whose new Node has just registered; its MachineSet is that old.
func booted(age time.Duration) func() Observation {
	return func() Observation {
		o := pooled{replicas: 2, surge: 1, old: "RR", fresh: "U"}.observation()
		o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(180))
		edit(&o.Nodes, func(nodes *[]observation.Node) {
			for i := range *nodes {
				(*nodes)[i].CreatedAt = ago(time.Second)
			}
		})
		edit(&o.Machines, func(m *observation.Machines) {
			for i := range m.Sets {
				if m.Sets[i].Current {
					m.Sets[i].Revision, m.Sets[i].CreatedAt = "2", ago(age)
				}
			}
		})
		return o
	}
}

func booting(kubelet observation.BootstrapKubelet, revision string) func(*Observation) {
	return func(o *Observation) {
		o.Bootstraps = observation.Known(
			map[string]observation.BootstrapData{
				"md": {Kubelet: kubelet, Revision: revision}, "canary": {Kubelet: kubelet, Revision: revision},
			},
		)
	}
}

// became lets a MachineSet be the newest one again since then.
func became(age time.Duration) func(*Observation) {
	return func(o *Observation) {
		edit(&o.Machines, func(m *observation.Machines) {
			for i := range m.Sets {
				if m.Sets[i].Current {
					m.Sets[i].CurrentSince = ago(age)
				}
			}
		})
	}
}

func unmade(o *Observation) {
	edit(&o.Machines, func(m *observation.Machines) {
		for i := range m.Sets {
			m.Sets[i].Current = false
		}
	})
}

func TestBootstrapDataBeforeMoreIsRolled(t *testing.T) {
	const secret = "Secret cloud-init-settings/workers-kube-system-provisioning-config of MachineDeployment kube-system/workers"
	young, old := booted(time.Minute), booted(4*time.Minute)
	waitsFor := func(given func() Observation, when func(*Observation), words ...string) decision {
		return decision{given: given, when: when, step: ucv1.StepRoll, wait: ucv1.WaitingForBootstrapDataReason, says: words}
	}
	goesOn := func(when func(*Observation)) decision {
		return decision{given: young, when: when, step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason}
	}
	unjoined := func(o *Observation) {
		edit(&o.Machines, func(m *observation.Machines) {
			for i := range m.Machines {
				if m.Machines[i].Annotation == "true" {
					m.Machines[i].NodeName = ""
				}
			}
		})
	}
	runDecisions(t, map[string]decision{
		"external, of the newest revision":                             goesOn(booting(observation.BootstrapExternal, "2")),
		"what is not understood is left to the Nodes":                  goesOn(booting(observation.BootstrapNotTold, "1")),
		"what may not be read is left to the Nodes":                    goesOn(booting(observation.BootstrapRefused, "")),
		"what does not exist is left to the Nodes, where one joined":   goesOn(booting(observation.BootstrapMissing, "")),
		"in-tree is named":                                             waitsFor(young, booting(observation.BootstrapInTree, "2"), secret, "without --cloud-provider=external"),
		"external of the revision before says nothing":                 waitsFor(young, booting(observation.BootstrapExternal, "1"), secret, "newest revision"),
		"without a MachineSet of the newest template nothing is known": waitsFor(old, both(booting(observation.BootstrapExternal, ""), unmade), secret, "newest revision"),
		"what does not exist may still come while no Machine joined":   waitsFor(old, both(booting(observation.BootstrapMissing, ""), unjoined), secret, "is not there yet"),
		"without an operating-system-manager nothing comes": goesOn(both(booting(observation.BootstrapMissing, ""), unjoined,
			func(o *Observation) {
				o.Cluster.Spec.MachineController.OperatingSystemManager.Mode = ucv1.OperatingSystemManagerNone
			})),
		"in-tree calls a person after the deadline": {
			given: old, when: booting(observation.BootstrapInTree, "2"), step: ucv1.StepRoll, fails: ucv1.BootstrapDataNotExternalReason,
			says: []string{secret, "OperatingSystemProfile"},
		},
		"an operating-system-manager that does not write calls a person": {
			given: old, when: booting(observation.BootstrapExternal, "1"), step: ucv1.StepRoll, fails: ucv1.BootstrapDataNotExternalReason,
			says: []string{secret},
		},
		"a template that went back a moment ago is waited for, whatever the age of its MachineSet": waitsFor(old, both(booting(observation.BootstrapExternal, "1"), became(time.Minute)), secret, "newest revision"),
		"not for longer than for a new one": {
			given: old, when: both(booting(observation.BootstrapExternal, "1"), became(200*time.Second)), step: ucv1.StepRoll,
			fails: ucv1.BootstrapDataNotExternalReason, says: []string{secret},
		},
		"what could not be looked at is waited for": {
			given: young, when: func(o *Observation) {
				o.Bootstraps = observation.Unknown[map[string]observation.BootstrapData]("timeout")
			},
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason, says: []string{"timeout"},
		},
		"what no one looked for is not there by that": {
			given: young, when: func(o *Observation) { o.Bootstraps = observation.Known(map[string]observation.BootstrapData{}) },
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
		},
		"a MachineDeployment that is not rolled has its former data": {given: rolling, when: booting(observation.BootstrapInTree, "1"), step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment},
	})
}

func TestBootstrapDataHoldsSteps(t *testing.T) {
	step := pooled{replicas: 3, surge: 1, old: "RRR", fresh: "P"}.observation
	runDecisions(t, map[string]decision{
		"external": {given: step, step: ucv1.StepRoll, action: outcome.ActionMarkMachines},
		"of a former time": {
			given: step, when: booting(observation.BootstrapExternal, "9"),
			step: ucv1.StepRoll, wait: ucv1.WaitingForBootstrapDataReason,
		},
		"external, in a deleted Cluster": {given: deleted(step), step: ucv1.StepRoll, action: outcome.ActionMarkMachines},
		"of a former time, in a deleted Cluster": {
			given: deleted(step), when: booting(observation.BootstrapExternal, "9"),
			step: ucv1.StepRoll, wait: ucv1.WaitingForBootstrapDataReason, says: []string{"usercluster.k8c.io/abandon=true"},
		},
		"not looked at, in a deleted Cluster": {
			given: deleted(step), when: func(o *Observation) {
				o.Bootstraps = observation.Unknown[map[string]observation.BootstrapData]("timeout")
			},
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason, says: []string{"timeout"},
		},
	})
}

// The machine-controller and the operating-system-manager are gone, and the MachineDeployment may lack a Machine: its first step
// would be ours.
func TestAStepThatWaitsForBootstrapDataCallsAPersonInTheEnd(t *testing.T) {
	given := pooled{replicas: 3, surge: 1, unavailable: 1, old: "RRR"}.observation
	missing := func(age time.Duration) func(*Observation) {
		return both(booting(observation.BootstrapMissing, ""), func(o *Observation) {
			edit(&o.Machines, func(m *observation.Machines) {
				for i := range m.Machines {
					m.Machines[i].CreatedAt = ago(2 * age)
				}
				for i := range m.Sets {
					m.Sets[i].CreatedAt = ago(age)
				}
			})
		})
	}
	late := decision{
		given: given, when: missing(21 * time.Minute), step: ucv1.StepRoll, fails: ucv1.WaitingForMachinesReason,
		says: []string{"no Machine came or began to go of MachineDeployment kube-system/workers"},
	}
	gone := late
	gone.given, gone.says = deleted(given), append(gone.says, "usercluster.k8c.io/abandon=true")
	runDecisions(t, map[string]decision{
		"after the deadline of Machines":                       late,
		"after the deadline of Machines, in a deleted Cluster": gone,
		"before it": {
			given: given, when: missing(19 * time.Minute), step: ucv1.StepRoll, wait: ucv1.WaitingForBootstrapDataReason,
		},
	})
}

func TestBootstrapDataOfTheCanary(t *testing.T) {
	young := func() Observation {
		o := made()
		o.Cluster.Status.Canary.StartedAt = stampAgo(time.Minute)
		return o
	}
	runDecisions(t, map[string]decision{
		"in-tree: it counts for nothing": {
			given: young, when: booting(observation.BootstrapInTree, ""), step: ucv1.StepRoll, wait: ucv1.WaitingForBootstrapDataReason,
			says: []string{"ccm-migration-canary-kube-system-provisioning-config"},
		},
		"in-tree: that is recorded before its Machine is late": {
			given: made, when: booting(observation.BootstrapInTree, ""), step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"not proven in time"},
		},
		"in-tree: a person is called": {
			given: made, when: func(o *Observation) {
				booting(observation.BootstrapInTree, "")(o)
				o.Cluster.Status.Canary.FailedAt = stampAgo(time.Minute)
			},
			step: ucv1.StepRoll, fails: ucv1.BootstrapDataNotExternalReason, says: []string{"no other Machine was touched"},
		},
		"of an earlier one": {given: young, when: booting(observation.BootstrapExternal, "9"), step: ucv1.StepRoll, wait: ucv1.WaitingForBootstrapDataReason},
		"could not be looked at": {
			given: young, when: func(o *Observation) {
				o.Bootstraps = observation.Unknown[map[string]observation.BootstrapData]("timeout")
			}, step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
		},
		"not understood: it is proven without, and says so": {
			given: young, when: booting(observation.BootstrapNotTold, ""), step: ucv1.StepRoll, action: outcome.ActionRecord,
			says: []string{"is proven"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Canary.WithoutProof).To(ConsistOf("its bootstrap data, which is not understood"))
			},
		},
		"external: it is proven": {
			given: young, step: ucv1.StepRoll, action: outcome.ActionRecord, says: []string{"is proven"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Canary.WithoutProof).To(BeEmpty()) },
		},
	})
}

func TestBootstrapsAreLookedForWhereTheyDecide(t *testing.T) {
	names := func(o Observation) []string {
		found := []string{}
		for _, ref := range rollout.BootstrapsOf(o, noon()) {
			found = append(found, ref.Name)
		}
		return found
	}
	g := NewWithT(t)
	g.Expect(names(rolling())).To(BeEmpty(), "it was not told to roll: its data is that of before")
	g.Expect(names(verifying())).To(BeEmpty(), "it is replaced")
	g.Expect(names(made())).To(ConsistOf(ucv1.CanaryName))
	g.Expect(names(booted(time.Minute)())).To(ConsistOf("workers"))
	proven := made()
	proven.Cluster.Status.Canary.ProvenAt = stampAgo(0)
	g.Expect(names(proven)).To(BeEmpty())
	paused := booted(time.Minute)()
	edit(&paused.Machines, func(m *observation.Machines) { m.Deployments[0].Paused = true })
	g.Expect(names(paused)).To(BeEmpty(), "a paused MachineDeployment gets no new revision")
}
