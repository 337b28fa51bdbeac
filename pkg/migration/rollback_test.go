package migration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const back = "1767270000"

// asked has everything migrated but the last word, and a person who wants it rolled back.
func asked() Observation {
	o := soaked()
	o.Cluster.Spec.Handover.Rollback = true
	o.CCMPods, o.Attachments = observation.Known([]string{"ccm"}), observation.Known([]observation.Attachment{})
	return o
}

// The stages of a rollback, each ready to do the next thing of its step.

func reverting() Observation {
	o := asked()
	o.Cluster.Status.Rollback = &ucv1.RollbackStatus{StartedAt: stampAgo(10 * time.Minute)}
	return o
}

func reverted() Observation {
	o := reverting()
	edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) { (*d)[0].Arguments.Flags = map[string]string{} })
	return o
}

func turningBack() Observation {
	o := reverted()
	rollback := o.Cluster.Status.Rollback
	rollback.MachineControllerRevertedAt, rollback.RollGeneration = stampAgo(9*time.Minute), back
	return o
}

func rolledBack() Observation {
	o := turningBack()
	edit(&o.Machines, func(m *observation.Machines) {
		m.Deployments[0].RestartValue, m.Sets[0].RestartValue, m.Machines[0].Annotation = back, back, "false"
	})
	return o
}

func withdrawing() Observation {
	o := rolledBack()
	o.Cluster.Status.Rollback.WorkloadWithdrawnAt = stampAgo(2 * time.Minute)
	edit(&o.Addons, func(a *observation.Addons) {
		a.CCM.WorkloadWithheld, a.Obsolete = true, []observation.Ref{{Kind: "Deployment", Namespace: "kube-system", Name: "ccm"}}
	})
	return o
}

func shut() Observation {
	o := withdrawing()
	edit(&o.Fence, func(f *observation.Fence) { f.Open, f.Allowed = false, nil })
	return o
}

func gone() Observation {
	o := shut()
	edit(&o.Addons, func(a *observation.Addons) { a.Obsolete = nil })
	o.CCMPods = observation.Known([]string{})
	return o
}

func quiet() Observation {
	o := gone()
	o.Cluster.Status.Rollback.WorkloadGoneAt = new(metav1.NewMicroTime(ago(30 * time.Second)))
	o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute)
	edit(&o.CCMLease, func(l *observation.Lease) { l.ChangedAt = ago(40 * time.Second) })
	return o
}

func loopsBack() Observation {
	o := quiet()
	o.Cluster.Status.Rollback.LoopsOnAt, o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(10*time.Second), nil
	setKCM(&o, inTree())
	return o
}

func withdrawingAddons() Observation {
	o := loopsBack()
	o.Cluster.Spec.Handover.RollbackAddons = true
	o.Cluster.Status.Rollback.AddonsWithdrawnAt = stampAgo(time.Second)
	edit(&o.Addons, func(a *observation.Addons) {
		a.CCM.Withdrawn, a.CSI.Withdrawn, a.Obsolete = true, true, []observation.Ref{
			{Kind: "DaemonSet", Namespace: "kube-system", Name: "csi"},
		}
	})
	return o
}

func rollbackStages() []func() Observation {
	return []func() Observation{
		asked, reverting, reverted, turningBack, rolledBack, withdrawing, shut, gone, quiet, loopsBack, withdrawingAddons,
	}
}

func TestEveryStageOfARollbackIsAtItsStep(t *testing.T) {
	runDecisions(t, map[string]decision{
		"it is judged, and recorded first": {
			given: asked, step: ucv1.StepRollbackMachineController, action: outcome.ActionRecord, says: []string{"is being rolled back"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.StartedAt.Time).To(Equal(noon())) },
		},
		"the machine-controller loses its flag": {
			given: reverting, step: ucv1.StepRollbackMachineController, action: outcome.ActionChangeArguments,
			says: []string{"Removing -node-external-cloud-provider"},
		},
		"when it is gone is recorded": {
			given: reverted, step: ucv1.StepRollbackMachineController, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.MachineControllerRevertedAt.Time).To(Equal(noon())) },
		},
		"a flag that came back makes them judged again": {
			given: turningBack, when: func(o *Observation) { o.MachineController = observation.Known(machineControllers()) },
			step: ucv1.StepRollbackMachineController, action: outcome.ActionRecord,
			says:  []string{"got -node-external-cloud-provider back"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.MachineControllerRevertedAt).To(BeNil()) },
		},
		"an old pod of the machine-controller is waited for": {
			given: turningBack, when: func(o *Observation) {
				edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) { (*d)[0].RolledOut = false })
			}, step: ucv1.StepRollbackMachineController, wait: ucv1.RollingOutReason,
		},
		"external Machines are rolled back": {
			given: turningBack, step: ucv1.StepRollbackRoll, action: outcome.ActionRollMachineDeployment,
			says:  []string{"kube-system/workers"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.RolledMachineDeployments).To(ConsistOf("md")) },
		},
		"its value is recorded first": {
			given: turningBack, when: func(o *Observation) { o.Cluster.Status.Rollback.RollGeneration = "" },
			step: ucv1.StepRollbackRoll, action: outcome.ActionRecord,
		},
		"a CCM that does not lead does not hold it up": {
			given: turningBack, when: func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() },
			step: ucv1.StepRollbackRoll, action: outcome.ActionRollMachineDeployment,
		},
		"a rollout that is going the other way is turned round": {
			given: turningBack, when: func(o *Observation) {
				edit(&o.Machines, func(m *observation.Machines) { m.Deployments[0].Settled = false })
			},
			step: ucv1.StepRollbackRoll, action: outcome.ActionRollMachineDeployment,
		},
		"a MachineSet of the migration is external, also when another clock says that it was made since": {
			given: turningBack, when: func(o *Observation) {
				edit(&o.Machines, func(m *observation.Machines) { m.Sets[0].CreatedAt = ago(time.Minute) })
			}, step: ucv1.StepRollbackRoll, action: outcome.ActionRollMachineDeployment,
		},
		"what was made before the migration is not touched": {
			given: turningBack, when: func(o *Observation) { o.Machines = observation.Known(outdated()) }, step: ucv1.StepRollbackFence,
			action: outcome.ActionRecord,
		},
		"but a Machine that was made since is": {
			given: turningBack, when: func(o *Observation) {
				o.Machines = observation.Known(outdated())
				edit(&o.Machines, func(m *observation.Machines) { m.Machines[0].Annotation = "true" })
			}, step: ucv1.StepRollbackRoll, action: outcome.ActionRollMachineDeployment,
		},
	})
}

// done is the rest behind a rollback.
func done(o *Observation) {
	o.Cluster.Status.Facts = ucv1.Facts{
		Origin: ucv1.OriginMigrating, Rollback: &ucv1.RollbackStatus{FinishedAt: stampAgo(time.Minute)},
	}
	setKCM(o, inTree())
	edit(&o.KCMLease, func(l *observation.Lease) { l.Holder, l.AcquireTime = "new_1", ago(time.Second) })
}

func TestWhatIsRolledBackRests(t *testing.T) {
	runDecisions(t, map[string]decision{
		"before the start there is nothing to roll back": {
			given: fresh, when: func(o *Observation) { o.Cluster.Spec.Handover.Rollback = true }, step: ucv1.StepRollbackAddons,
			action: outcome.ActionRecord, facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Rollback.FinishedAt).NotTo(BeNil()) },
		},
		"what is rolled back rests": {given: asked, when: done, step: ucv1.StepRolledBack},
		"what is rolled back and runs no cloud loop is not at rest": {
			given: asked, when: func(o *Observation) { done(o); setKCM(o, silentArguments()) }, step: ucv1.StepRolledBack,
			fails: ucv1.LoopsOffAlreadyReason, says: []string{"does not run the cloud loops any more"},
		},
		"what is rolled back and cannot be looked at is not claimed to be at rest": {
			given: asked, when: func(o *Observation) {
				done(o)
				o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout")
			},
			step: ucv1.StepRolledBack, wait: ucv1.CouldNotLookReason,
		},
		"what is rolled back and has no KCM that leads is not at rest": {
			given: asked, when: func(o *Observation) {
				done(o)
				edit(&o.KCMLease, func(l *observation.Lease) { l.RenewTime, l.ChangedAt = ago(time.Minute), ago(time.Minute) })
			}, step: ucv1.StepRolledBack, wait: ucv1.WaitingForLeaderReason, says: []string{"no process of Deployment"},
		},
		"a wish that is gone starts nothing": {
			given: asked, when: func(o *Observation) { done(o); o.Cluster.Spec.Handover.Rollback = false }, step: ucv1.StepRolledBack,
		},
		"nor does a time from before the rollback": {
			given: asked, when: func(o *Observation) {
				done(o)
				o.Cluster.Spec.Handover.Rollback, o.Cluster.Spec.Handover.RetryAfter = false, stampAgo(time.Hour)
			}, step: ucv1.StepRolledBack,
		},
		"a later time starts nothing while the rollback is wanted": {
			given: asked, when: func(o *Observation) { done(o); o.Cluster.Spec.Handover.RetryAfter = stampAgo(0) },
			step: ucv1.StepRolledBack,
		},
		"taken back with a later time, the migration begins at once": {
			given: asked, when: func(o *Observation) {
				done(o)
				o.Cluster.Spec.Handover.Rollback, o.Cluster.Spec.Handover.RetryAfter = false, stampAgo(0)
			},
			step: ucv1.StepAdmitted, action: outcome.ActionRecord,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f).To(Equal(ucv1.Facts{Origin: ucv1.OriginMigrating})) },
		},
	})
}

func TestOtherWaysOfARollback(t *testing.T) {
	runDecisions(t, map[string]decision{
		"taken back in the middle, it goes on to its end": {
			given: reverting, when: func(o *Observation) { o.Cluster.Spec.Handover.Rollback = false },
			step: ucv1.StepRollbackMachineController, action: outcome.ActionChangeArguments,
		},
		"beyond the point of no return it is refused, with the moment": {
			given: asked, when: func(o *Observation) { withMachine(observation.Machine{Annotation: "true"})(o) },
			step: ucv1.StepComplete, fails: ucv1.RollbackRefusedReason,
			says: []string{"passed at 2026-01-01T12:00:00Z", "Machine kube-system/pet"},
		},
		"in a hand-over that no one leads it is refused only when someone does": {
			given: fenced, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Rollback = true
				withMachine(observation.Machine{Annotation: "true"})(o)
			}, step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"before KCM is changed it is refused at once": {
			given: loud, when: func(o *Observation) {
				o.Cluster.Spec.Handover.Rollback = true
				withMachine(observation.Machine{Annotation: "true"})(o)
			}, step: ucv1.StepHandover, line: "LoopsOff", fails: ucv1.RollbackRefusedReason,
		},
	})
}

func TestARollbackAndTheGuard(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a completed migration goes on with what is left, and refuses then": {
			given: finished, when: func(o *Observation) { o.Cluster.Spec.Handover.Rollback = true },
			step: ucv1.StepFinished, fails: ucv1.RollbackRefusedReason,
		},
		"the guard goes before what could not be looked at": {
			given: asked, when: func(o *Observation) {
				setKCM(o, inTree())
				o.Machines = observation.Unknown[observation.Machines]("timeout")
			},
			step: ucv1.StepHandover, action: outcome.ActionRecord, fails: ucv1.CloudLoopsContendedReason,
		},
		"where KCM runs loops already the CCM goes first": {
			given: reverting, when: func(o *Observation) { setKCM(o, inTree()) }, step: ucv1.StepRollbackFence,
			action: outcome.ActionRecord,
		},
	})
}

func TestAddonsOfARollback(t *testing.T) {
	runDecisions(t, map[string]decision{
		"addons go when no volume needs them": {
			given: withdrawingAddons, step: ucv1.StepRollbackAddons, action: outcome.ActionPruneAddons,
			says: []string{"DaemonSet kube-system/csi"},
		},
		"a volume that needs the driver keeps them": {
			given: withdrawingAddons, when: func(o *Observation) {
				o.Cluster.Status.Rollback.AddonsWithdrawnAt = nil
				edit(&o.Addons, func(a *observation.Addons) { a.Obsolete = nil })
				withVolume("cinder.csi.openstack.org")(o)
			}, step: ucv1.StepRollbackAddons, fails: ucv1.VolumesNeedDriverReason, says: []string{"PersistentVolume late"},
		},
		"so does one that this minor migrates anyway": {
			given: withdrawingAddons, when: func(o *Observation) {
				o.Cluster.Status.Rollback.AddonsWithdrawnAt = nil
				edit(&o.Addons, func(a *observation.Addons) { a.Obsolete = nil })
				edit(&o.Provider, func(p *observation.Provider) { p.MigratedPlugins = []string{"kubernetes.io/cinder"} })
				edit(&o.Inventory, func(i *observation.Inventory) {
					i.Volumes = []observation.Volume{{Name: "pv", UID: "pv", Phase: "Bound", Plugin: "kubernetes.io/cinder"}}
				})
			}, step: ucv1.StepRollbackAddons, fails: ucv1.VolumesNeedDriverReason, says: []string{"PersistentVolume pv"},
		},
		"and one that is attached": {
			given: withdrawingAddons, when: func(o *Observation) {
				o.Cluster.Status.Rollback.AddonsWithdrawnAt = nil
				edit(&o.Addons, func(a *observation.Addons) { a.Obsolete = nil })
				o.Attachments = observation.Known([]observation.Attachment{{Name: "csi-1", Attacher: "cinder.csi.openstack.org"}})
			}, step: ucv1.StepRollbackAddons, fails: ucv1.VolumesNeedDriverReason, says: []string{"VolumeAttachment csi-1"},
		},
		"a deleted Cluster goes when KCM has its loops back": {given: deleted(loopsBack), step: ucv1.StepRollbackAddons, action: outcome.ActionRelease},
		"and not before": {
			given: deleted(reverted), when: func(o *Observation) {
				edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) { (*d)[0].RolledOut = false })
			}, step: ucv1.StepRollbackMachineController, wait: ucv1.RollingOutReason,
			says: []string{"the deleted Cluster goes when KCM has its cloud loops back"},
		},
	})
}

// rollbackRestsOn names the facts without which a stage's action must not be done.
func rollbackRestsOn(d Decision) []string {
	machines := []string{"ControlPlane", "MachineController", "Machines", "Nodes", "Provider"}
	fence := append([]string{"Fence"}, machines...)
	silent := append([]string{"Addons", "CCMPods"}, fence...)
	switch {
	case d.Step == ucv1.StepRollbackMachineController:
		return []string{"ControlPlane", "MachineController"}
	case d.Step == ucv1.StepRollbackRoll:
		return machines
	case d.Next().Kind == outcome.ActionCloseFence, d.Next().Kind == outcome.ActionRecord && d.Step == ucv1.StepRollbackFence:
		return machines
	case d.Step == ucv1.StepRollbackFence:
		return append([]string{"Addons"}, fence...)
	case d.Step == ucv1.StepRollbackLoops:
		return append([]string{"CCMLease"}, silent...)
	}
	return append([]string{"CCMLease", "KCMLease", "Inventory", "Baseline"}, silent...)
}

func TestWhatIsUnknownNeverLetsARollbackGoOn(t *testing.T) {
	facts := lose(false)
	facts["CCMPods"] = func(o *Observation) { loseFact(&o.CCMPods, false) }
	facts["Attachments"] = func(o *Observation) { loseFact(&o.Attachments, false) }
	order := []ucv1.Step{}
	for _, row := range RollbackTable() {
		order = append(order, row.Step)
	}
	for _, stage := range rollbackStages() {
		with := Decide(stage(), noon())
		for fact, forget := range facts {
			t.Run(fmt.Sprintf("%s %s without %s", with.Step, with.Next().Kind, fact), func(t *testing.T) {
				g := NewWithT(t)
				blind := stage()
				forget(&blind)
				without := Decide(blind, noon())
				g.Expect(slices.Index(order, without.Step)).To(BeNumerically("<=", slices.Index(order, with.Step)))
				g.Expect(without.Calls()).To(BeNil(), "what is unknown is no failure")
				if without.Next() == nil {
					g.Expect(without.Wait).NotTo(BeNil())
					return
				}
				g.Expect(without.Next()).To(Equal(with.Next()))
				beginning := stage().Cluster.Status.Rollback == nil
				if beginning {
					g.Expect(
						[]string{"Provider", "ControlPlane", "Machines", "Inventory", "Baseline"},
					).NotTo(ContainElement(fact), "the rollback begins without %s", fact)
					return
				}
				g.Expect(rollbackRestsOn(with)).NotTo(ContainElement(fact), "%s is done without %s", with.Next().Kind, fact)
			})
		}
	}
}

func TestRowsOfARollbackSayHowFarItIs(t *testing.T) {
	g := NewWithT(t)
	reasons := func(o Observation) map[ucv1.Step]string {
		got := map[ucv1.Step]string{}
		for _, row := range Decide(o, noon()).Rows {
			g.Expect(row.Holds).To(BeFalse())
			g.Expect(row.Message).NotTo(BeEmpty())
			got[row.Step] = row.Reason
		}
		return got
	}
	now := reasons(shut())
	g.Expect(now[ucv1.StepRoll]).To(Equal(ucv1.RolledBackReason))
	g.Expect(now[ucv1.StepHandover]).To(Equal(ucv1.RollbackInProgressReason))
	g.Expect(now).To(HaveLen(len(Table(ucv1.OriginMigrating))))
}

// TestARollbackThatCannotBeJudgedRecordsNothing: what the roll would record was not done.
func TestARollbackThatCannotBeJudgedRecordsNothing(t *testing.T) {
	g, o := NewWithT(t), recording()
	g.Expect(Decide(o, noon()).Facts.RollGeneration).NotTo(BeEmpty())
	o.Cluster.Spec.Handover.Rollback = true
	o.Inventory = observation.Unknown[observation.Inventory]("timeout")
	decision := Decide(o, noon())
	g.Expect(decision.Wait).To(HaveField("Message", HavePrefix("The rollback has not begun.")))
	g.Expect(decision.Facts.RollGeneration).To(BeEmpty())
}
