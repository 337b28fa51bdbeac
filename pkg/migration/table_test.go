package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

func TestEveryStageIsAtItsStep(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a fresh cluster passes preflight and records its start": {
			given: fresh, step: ucv1.StepPreflight, action: outcome.ActionRecord, says: []string{"Starting the migration"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.StartedAt.Time).To(Equal(noon()))
				g.Expect(f.Handover.Protocol).To(Equal(ucv1.FencedProtocol))
				g.Expect(*f.Inherited).To(Equal(ucv1.InheritedConfiguration{
					ClusterName: "prod", ClusterCIDR: "10.0.0.0/16", ClusterUID: "cluster", ConfigureCloudRoutes: true, AllocateNodeCIDRs: true,
					Loops: []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop},
				}))
			},
		},
		"a started cluster applies CSI first": {
			given: applying, step: ucv1.StepAddons, action: outcome.ActionApplyAddons, says: []string{"CSI addon: CSIDriver cinder"},
		},
		"with addons in place the baseline is taken": {
			given: starting, step: ucv1.StepHandover, line: "BaselineTaken", action: outcome.ActionTakeBaseline,
			says: []string{"1 load balancer, 1 volume"},
			facts: func(g Gomega, f ucv1.Facts) {
				g.Expect(f.Baseline.SecretName).To(Equal("alpha-ccm-migration-baseline-" + f.Baseline.Digest[:8]))
			},
		},
		"a KCM that runs loops is switched off": {
			given: loud, step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments,
			says: []string{"Switching the cloud loops off"},
		},
		"a silent KCM lets the fence open": {
			given: fenced, step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
			says:  []string{"system:serviceaccount:kube-system:ccm may now write"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.FenceOpenedAt.Time).To(Equal(noon())) },
		},
		"after the hand-over the machine-controller gets its flag": {
			given: configuring, step: ucv1.StepMachineController, action: outcome.ActionChangeArguments,
			says: []string{"-node-external-cloud-provider"},
		},
		"outdated Machines are rolled": {
			given: rolling, step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
			says: []string{"MachineDeployment kube-system/workers"},
		},
		"proven Nodes begin the soak": {
			given: verifying, step: ucv1.StepVerify, action: outcome.ActionRecord, says: []string{"has to stay so for 5m0s"},
		},
		"a completed cluster loses its in-tree flags": {
			given: completed, step: ucv1.StepFinalize, action: outcome.ActionChangeArguments,
			says: []string{"Removing the in-tree configuration"},
		},
		"a finished cluster has nothing left to do": {given: finished, step: ucv1.StepFinished},
	})
}

// inPlace has all addons in place but for the change.
func inPlace(change func(*observation.Addons)) func(*Observation) {
	return func(o *Observation) {
		o.Addons = observation.Known(observation.Addons{})
		edit(&o.Addons, change)
	}
}

func unschedulable(why string) observation.AddonSet {
	return observation.AddonSet{Unhealthy: messages.Said(why), Unschedulable: true}
}

func TestAddonsAreAppliedAndHealthy(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a CCM whose set differs is applied after CSI": {
			given: applying,
			when:  inPlace(func(a *observation.Addons) { a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Name: "ccm"}} }),
			step:  ucv1.StepAddons, action: outcome.ActionApplyAddons, says: []string{"CCM addon"},
		},
		"a CSI driver of someone else satisfies ours": {
			given: applying, when: inPlace(func(a *observation.Addons) {
				a.CSI = observation.AddonSet{SatisfiedBy: "cinder.csi.openstack.org of Helm release csi",
					Drifted: []observation.Ref{{Kind: "X", Name: "x"}}, Unhealthy: messages.Said("x")}
			}),
			step: ucv1.StepHandover, line: "BaselineTaken", action: outcome.ActionTakeBaseline,
		},
		"objects that are not ours block with their names": {
			given: applying,
			when:  inPlace(func(a *observation.Addons) { a.CCM.Foreign = messages.Said("Deployment kube-system/ccm of helm") }),
			step:  ucv1.StepAddons, fails: ucv1.ForeignObjectsReason,
			says: []string{"Deployment kube-system/ccm of helm", "spec.addons.adoption"},
		},
		"objects that are not ours are taken over when that is allowed": {
			given: applying, when: func(o *Observation) {
				o.Cluster.Status.Adoption = plannedAgo(time.Hour, "Deployment kube-system/ccm")
				o.Addons = observation.Known(observation.Addons{
					CCM: observation.AddonSet{Foreign: messages.Said("Deployment kube-system/ccm"),
						Drifted: []observation.Ref{{Kind: "Deployment", Name: "ccm"}}},
				})
				o.Cluster.Spec.Addons.Adoption = ucv1.Adopt
			},
			step: ucv1.StepAddons, action: outcome.ActionApplyAddons,
		},
		"an unhealthy workload is waited for": {
			given: applying, when: inPlace(func(a *observation.Addons) { a.CSI.Unhealthy = messages.Said("DaemonSet csi has 0 of 3") }),
			step: ucv1.StepAddons, wait: ucv1.RollingOutReason, says: []string{"DaemonSet csi has 0 of 3"},
		},
		"without Nodes, workloads that cannot be scheduled count as ready": {
			given: applying, when: func(o *Observation) {
				o.Addons = observation.Known(observation.Addons{CSI: unschedulable("x"), CCM: unschedulable("Y")})
				o.Nodes = observation.Known([]observation.Node{})
			},
			step: ucv1.StepHandover, line: "BaselineTaken", action: outcome.ActionTakeBaseline,
		},
		"with Nodes, workloads that cannot be scheduled are waited for": {
			given: applying, when: inPlace(func(a *observation.Addons) {
				a.CCM = unschedulable("Deployment ccm is Pending")
			}),
			step: ucv1.StepAddons, wait: ucv1.RollingOutReason, says: []string{"Deployment ccm is Pending"},
		},
		"objects that are not wanted any more are deleted when the new set is healthy": {
			given: applying, when: inPlace(func(a *observation.Addons) {
				a.Obsolete = []observation.Ref{{Kind: "ConfigMap", Namespace: "kube-system", Name: "old"}}
			}),
			step: ucv1.StepAddons, action: outcome.ActionPruneAddons, says: []string{"ConfigMap kube-system/old"},
		},
		"objects that are not wanted any more stay while the new set is unhealthy": {
			given: applying, when: inPlace(func(a *observation.Addons) {
				a.Obsolete, a.CCM.Unhealthy = []observation.Ref{{Kind: "ConfigMap", Name: "old"}}, messages.Said("Y")
			}),
			step: ucv1.StepAddons, wait: ucv1.RollingOutReason,
		},
	})
}

func TestAddonsStandBehindAFence(t *testing.T) {
	runDecisions(t, map[string]decision{
		"an identity that may write its Lease behind a closed fence blocks the CCM": {
			given: applying, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CSI = observation.AddonSet{} })
				edit(&o.Fence, func(f *observation.Fence) { f.Allowed = []string{"update"} })
			},
			step: ucv1.StepAddons, fails: ucv1.FenceIneffectiveReason, says: []string{
				"may update Lease kube-system/ccm although our fence is closed", "-n kube-system --as=system:serviceaccount:kube-system:ccm",
			},
		},
		"a fence that stands open beside a KCM that runs loops blocks the CCM": {
			given: starting, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = true, []string{"update"} })
			},
			step: ucv1.StepAddons, fails: ucv1.FenceIneffectiveReason,
		},
		"a fence that stands open beside a KCM pod that runs loops blocks the CCM": {
			given: starting, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = true, []string{"update"} })
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments = silentArguments() })
			},
			step: ucv1.StepAddons, fails: ucv1.FenceIneffectiveReason,
		},
		"a fence that we opened and could not note is waited for until silence is proven again": {
			given: fenced, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = true, []string{"update"} })
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
			},
			step: ucv1.StepAddons, wait: ucv1.ProvingSilenceReason, says: []string{"The fence is open already: ", "is still rolling out"},
		},
		"a fence that stands open beside a silent KCM is harmless": {
			given: starting, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = true, []string{"update"} })
				setKCM(o, silentArguments())
				edit(&o.KCMLease, func(l *observation.Lease) { l.Holder = "new_1" })
			},
			step: ucv1.StepHandover, line: "BaselineTaken", action: outcome.ActionTakeBaseline,
		},
		"objects that are taken over are applied although they do not differ": {
			given: applying, when: func(o *Observation) {
				o.Cluster.Status.Adoption = plannedAgo(time.Hour, "CSIDriver cinder")
				o.Addons = observation.Known(observation.Addons{CSI: observation.AddonSet{Foreign: messages.Said("CSIDriver cinder")}})
				o.Cluster.Spec.Addons.Adoption = ucv1.Adopt
			},
			step: ucv1.StepAddons, action: outcome.ActionApplyAddons, says: []string{"CSIDriver cinder"},
		},
	})
}

func TestProfileAfterTheHandover(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a ProviderProfile that cannot be used any more needs a person": {
			given: rolling, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.ProfileProblem = "Fix the profile." })
				o.Addons = observation.Unknown[observation.Addons]("not rendered")
			},
			step: ucv1.StepAddons, fails: ucv1.InputInvalidReason, says: []string{"Fix the profile."},
		},
		"a ProviderProfile that cannot be used rolls nothing back when the migration is completed": {
			given: finished, when: func(o *Observation) {
				edit(&o.Provider, func(p *observation.Provider) { p.ProfileProblem = "Fix the profile." })
				o.Addons = observation.Unknown[observation.Addons]("not rendered")
			},
			step: ucv1.StepFinished,
		},
	})
}

func addonsUnseen(o *Observation) { o.Addons = observation.Unknown[observation.Addons]("timeout") }

func TestAddonsAfterTheHandover(t *testing.T) {
	runDecisions(t, map[string]decision{
		"drift after the hand-over is repaired": {
			given: rolling,
			when:  inPlace(func(a *observation.Addons) { a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Name: "ccm"}} }),
			step:  ucv1.StepAddons, action: outcome.ActionApplyAddons,
		},
		"a fence that closed by itself is opened again": {
			given: rolling, when: func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil }) },
			step: ucv1.StepAddons, action: outcome.ActionOpenFence,
		},
		"a fence that was closed because loops came back stays closed": {
			given: rolling, when: func(o *Observation) {
				edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil })
				setKCM(o, inTree())
			},
			step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
		},
		"a CCM that was stopped because loops came back is not applied again": {
			given: finished, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Name: "ccm"}} })
				setKCM(o, inTree())
			},
			step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
		},
		"drift is not repaired while the guard cannot look": {
			given: finished, when: func(o *Observation) {
				edit(&o.Addons, func(a *observation.Addons) { a.CCM.Drifted = []observation.Ref{{Kind: "Deployment", Name: "ccm"}} })
				o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout")
			},
			step: ucv1.StepAddons, wait: ucv1.CouldNotLookReason,
		},
		"addons that cannot be rendered any more need a person": {
			given: rolling, when: func(o *Observation) {
				o.CloudConfig, o.Addons = observation.Absent[observation.CloudConfig](),
					observation.Unknown[observation.Addons]("not rendered")
			},
			step: ucv1.StepAddons, fails: ucv1.InputInvalidReason,
			says: []string{"Secret user-alpha/cloud with the cloud configuration does not exist"},
		},
		"drift of both sets is repaired in one order": {
			given: finished, when: inPlace(func(a *observation.Addons) {
				a.CSI.Drifted, a.CCM.Drifted = []observation.Ref{{Kind: "DaemonSet", Name: "csi"}},
					[]observation.Ref{{Kind: "Deployment", Name: "ccm"}}
			}),
			step: ucv1.StepAddons, action: outcome.ActionApplyAddons, says: []string{"CSI addon"},
		},
		"health is not waited for after the hand-over": {
			given: rolling, when: inPlace(func(a *observation.Addons) { a.CCM.Unhealthy = messages.Said("Y") }),
			step: ucv1.StepRoll, action: outcome.ActionRollMachineDeployment,
		},
		"addons that cannot be looked at stop the roll": {
			given: rolling, when: addonsUnseen, step: ucv1.StepAddons, wait: ucv1.CouldNotLookReason,
		},
		"addons that cannot be looked at roll nothing back when the migration is completed": {
			given: finished, when: addonsUnseen, step: ucv1.StepFinished,
		},
		"a Node that is NotReady a month later rolls nothing back": {
			given: finished, when: notReady, step: ucv1.StepFinished,
		},
	})
}

func released(then func(*Observation)) func(*Observation) {
	return func(o *Observation) {
		o.Cluster.Spec.Addons.Management = ucv1.ReleasedAddons
		then(o)
	}
}

func TestReleasedAddonsAreLeftToOthers(t *testing.T) {
	missing := inPlace(func(a *observation.Addons) {
		a.CCM.Drifted, a.CSI.Foreign = []observation.Ref{{Kind: "Deployment", Name: "ccm"}}, messages.Said("DaemonSet csi")
		a.Obsolete = []observation.Ref{{Kind: "ConfigMap", Name: "old"}}
	})
	closed := func(o *Observation) { edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil }) }
	runDecisions(t, map[string]decision{
		"drift of a finished cluster is not repaired": {given: finished, when: released(missing), step: ucv1.StepFinished},
		"a closed fence stays closed":                 {given: finished, when: released(closed), step: ucv1.StepFinished},
		"drift of a cluster that was created with the feature is not repaired either": {
			given: finished, when: released(func(o *Observation) {
				o.Cluster.Status.Origin = ucv1.OriginExternal
				missing(o)
			}),
			step: ucv1.StepFinished,
		},
		"a migration does not start": {
			given: fresh, when: released(func(*Observation) {}),
			step: ucv1.StepPreflight, fails: ucv1.AddonsReleasedReason, says: []string{"set it to Managed until status.step is Finished"},
		},
		"a migration does not apply them": {
			given: applying, when: released(missing), step: ucv1.StepAddons, fails: ucv1.AddonsReleasedReason,
		},
		"a roll does not go on": {
			given: rolling, when: released(func(*Observation) {}), step: ucv1.StepAddons, fails: ucv1.AddonsReleasedReason,
		},
		"loops that came back are still told": {
			given: finished, when: released(func(o *Observation) { setKCM(o, inTree()) }),
			step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
		},
	})
}

func TestRowsOfAFinishedClusterAllHold(t *testing.T) {
	g := NewWithT(t)
	for _, row := range Decide(finished(), noon()).Rows {
		g.Expect(row.Holds).To(BeTrue(), string(row.Step))
		g.Expect(row.Unknown).To(BeFalse())
	}
}

func TestRowsBehindTheCurrentStepWaitForIt(t *testing.T) {
	g := NewWithT(t)
	rows := Decide(configuring(), noon()).Rows
	g.Expect(rows).To(HaveLen(len(Table(ucv1.OriginMigrating))))
	g.Expect(rows[3]).To(Equal(RowState{
		Step: ucv1.StepHandover, Holds: true, Reason: ucv1.HoldsReason,
		Message: "KCM is silent and the CCM was handed the cloud loops.",
	}))
	g.Expect(rows[7]).To(Equal(RowState{
		Step: ucv1.StepVerify, Reason: ucv1.WaitingForEarlierStepReason, Message: "Waits for step MachineController.",
	}))
}

func TestNoNodesIsSeenAfterTheHandover(t *testing.T) {
	g := NewWithT(t)
	o := finished()
	o.Nodes, o.Machines = observation.Known([]observation.Node{}), observation.Known(observation.Machines{})
	o.Addons = observation.Known(observation.Addons{CCM: unschedulable("pending")})
	d := Decide(o, noon())
	g.Expect(d.Step).To(Equal(ucv1.StepFinished))
	g.Expect(d.Rows[2].Reason).To(Equal(ucv1.NoNodesReason))
}

func TestDecideIsDeterministicAndChangesNothing(t *testing.T) {
	g := NewWithT(t)
	for _, stage := range stages() {
		o := stage()
		before := o.Cluster.DeepCopy()
		first := Decide(o, noon())
		for range 5 {
			g.Expect(Decide(o, noon())).To(Equal(first))
		}
		g.Expect(o.Cluster).To(Equal(before))
	}
}

// stages are all fixtures, in the order of the table.
func stages() []func() Observation {
	return []func() Observation{
		external, fresh, applying, starting, loud, fenced, opened, configuring, configured, rolling, recording, verifying, soaked,
		completed, judging,
		finished,
	}
}

// opened waits for the CCM to lead, configured is about to record that the flags are in place, recording the
// forceRestart value, soaked that the migration is completed.
func opened() Observation {
	o := fenced()
	o.Cluster.Status.Handover.FenceOpenedAt = stampAgo(5 * time.Second)
	edit(&o.Fence, func(f *observation.Fence) { f.Open = true })
	o.CCMLease = observation.Known(observation.Lease{
		Holder: "ccm_1", DurationSeconds: 15, ChangedAt: ago(time.Second), WatchedAt: ago(time.Minute),
	})
	return o
}

func configured() Observation {
	o := configuring()
	o.MachineController = observation.Known(machineControllers())
	return o
}

func recording() Observation {
	o := rolling()
	o.Cluster.Status.RollGeneration = ""
	return o
}

func soaked() Observation {
	o := verifying()
	o.Cluster.Status.StableSince = stampAgo(10 * time.Minute)
	return o
}
