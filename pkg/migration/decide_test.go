package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func unseen() Observation {
	o := fresh()
	o.Cluster.Status.Facts = ucv1.Facts{}
	return o
}

func origin(want ucv1.Origin) func(Gomega, ucv1.Facts) {
	return func(g Gomega, f ucv1.Facts) { g.Expect(f.Origin).To(Equal(want)) }
}

func misspelled(o *Observation) {
	o.Cluster.Spec.Features.ExternalCloudProvider = nil
	o.UnknownProvider = "Provider opnstack is not in the catalogue; did you mean openstack?"
}

func TestOrigin(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a Cluster with the feature off is in-tree": {
			given: unseen, when: featureOff, step: ucv1.StepInTree, facts: origin(ucv1.OriginInTree),
		},
		"a Cluster with the feature explicitly off is in-tree": {
			given: unseen, when: func(o *Observation) {
				featureOff(o)
				o.Cluster.Spec.Features.ExternalCloudProvider = new(false)
			}, step: ucv1.StepInTree, facts: origin(ucv1.OriginInTree),
		},
		"an unknown provider needs a person although the feature is off": {
			given: unseen, when: misspelled, step: ucv1.StepInTree, fails: ucv1.NotSupportedReason,
			says: []string{"did you mean openstack?", "delete the Cluster"}, facts: origin(ucv1.OriginInTree),
		},
		"a pause does not hide that the provider is unknown": {
			given: unseen, when: func(o *Observation) { misspelled(o); o.Cluster.Spec.Paused = true }, step: ucv1.StepInTree,
			fails: ucv1.NotSupportedReason, facts: origin(ucv1.OriginInTree),
		},
		"a control plane that two Clusters name needs a person although the feature is off": {
			given: unseen, when: func(o *Observation) {
				o.Cluster.Spec.Features.ExternalCloudProvider, o.Contenders = nil, observation.Known([]string{"user-alpha/beta"})
			}, step: ucv1.StepInTree, fails: ucv1.InputInvalidReason, says: []string{"also named by Cluster user-alpha/beta"},
			facts: origin(ucv1.OriginInTree),
		},
		"other Clusters that cannot be listed need no one while the feature is off": {
			given: unseen, when: func(o *Observation) {
				featureOff(o)
				o.Contenders = observation.Unknown[[]string]("timeout")
			}, step: ucv1.StepInTree, facts: origin(ucv1.OriginInTree),
		},
		"a feature that somehow is off again forgets no origin": {
			given: finished, when: featureOff, step: ucv1.StepInTree, facts: origin(ucv1.OriginMigrating),
		},
	})
}

func TestOriginOfAFlip(t *testing.T) {
	runDecisions(t, map[string]decision{
		"a flip that was seen is a migration, whatever KCM runs": {
			given: unseen, when: func(o *Observation) {
				o.Cluster.Status.Origin = ucv1.OriginInTree
				o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout")
			},
			step: ucv1.StepAdmitted, action: outcome.ActionRecord, facts: origin(ucv1.OriginMigrating),
		},
		"a flip that was missed is a migration when KCM runs loops, annotations or not": {
			given: unseen, when: func(o *Observation) { o.Cluster.Annotations = nil }, step: ucv1.StepAdmitted,
			action: outcome.ActionRecord, facts: origin(ucv1.OriginMigrating),
		},
		"an edited Cluster whose KCM runs no loop is external": {
			given: unseen, when: func(o *Observation) { setKCM(o, finalArguments()) }, step: ucv1.StepAddons, action: outcome.ActionRecord,
			facts: origin(ucv1.OriginExternal),
		},
		"a Cluster created with the feature is external": {
			given: unseen, when: func(o *Observation) { o.Cluster.Generation = 1; setKCM(o, finalArguments()) },
			step: ucv1.StepAddons, action: outcome.ActionRecord, facts: origin(ucv1.OriginExternal),
		},
		"a Cluster created with the feature beside a loud KCM is external all the same": {
			given: unseen, when: func(o *Observation) { o.Cluster.Generation = 1 }, step: ucv1.StepAddons, action: outcome.ActionRecord,
			facts: origin(ucv1.OriginExternal),
		},
		"and then it is blocked with the arguments": {
			given: unseen, when: func(o *Observation) { o.Cluster.Generation, o.Cluster.Status.Origin = 1, ucv1.OriginExternal },
			step: ucv1.StepAddons, fails: ucv1.CloudLoopsRunningReason, says: []string{"--cloud-provider=openstack"},
		},
		"a missed flip waits for a control plane that cannot be looked at": {
			given: unseen, when: func(o *Observation) { o.ControlPlane = observation.Unknown[observation.ControlPlane]("timeout") },
			step: ucv1.StepAdmitted, wait: ucv1.CouldNotLookReason, facts: origin(""),
		},
		"a missed flip without KCM needs a person": {
			given: unseen, when: func(o *Observation) { o.ControlPlane = observation.Absent[observation.ControlPlane]() },
			step: ucv1.StepAdmitted, fails: ucv1.InputInvalidReason, facts: origin(""),
		},
		"a missed flip with arguments that are not understood needs a person": {
			given: unseen, when: func(o *Observation) {
				edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.Arguments = observation.Arguments{Problem: "a shell"} })
			},
			step: ucv1.StepAdmitted, fails: ucv1.InputInvalidReason, says: []string{"a shell"}, facts: origin(""),
		},
	})
}

func TestAnnotationsAreRestored(t *testing.T) {
	lost := func(o *Observation) { delete(o.Cluster.Annotations, ucv1.CSIMigrationNeededAnnotation) }
	runDecisions(t, map[string]decision{
		"a lost annotation never holds up the migration": {
			given: starting, when: lost, step: ucv1.StepHandover, line: "BaselineTaken", action: outcome.ActionTakeBaseline,
		},
		"a lost annotation is restored while the migration waits": {
			given: fenced, when: func(o *Observation) { lost(o); notReady(o) }, step: ucv1.StepHandover, line: "FenceOpen",
			action: outcome.ActionRestoreAnnotations, wait: ucv1.NodesNotReadyReason,
		},
		"a lost annotation is restored while a person is called for": {
			given: rolling, when: func(o *Observation) {
				lost(o)
				machines(func(m *observation.Machines) { m.Deployments[0].Paused = true })(o)
			},
			step: ucv1.StepRoll, action: outcome.ActionRestoreAnnotations, fails: ucv1.BlockedMachinesReason,
		},
		"a completed migration needs none": {given: finished, when: lost, step: ucv1.StepFinished},
		"a cluster created with the feature gets none": {
			given: external, when: func(o *Observation) { o.CloudConfig = observation.Absent[observation.CloudConfig]() },
			step: ucv1.StepAddons, fails: ucv1.InputInvalidReason,
		},
		"a provider that cannot migrate gets none": {
			given: fenced, when: func(o *Observation) {
				lost(o)
				notReady(o)
				edit(&o.Provider, func(p *observation.Provider) { p.CanMigrate = false })
				o.Cluster.Status.Handover.StartedAt = nil
			},
			step: ucv1.StepAddons, fails: ucv1.NotSupportedReason,
		},
	})
}

func TestPausedDoesNothing(t *testing.T) {
	for _, stage := range stages() {
		g := NewWithT(t)
		o := stage()
		want := Decide(o, noon())
		o.Cluster.Spec.Paused = true
		d := Decide(o, noon())
		g.Expect([]any{d.Next(), d.Wait, d.Calls()}).To(HaveEach(BeNil()))
		facts := o.Cluster.Status.Facts
		if d.Facts != nil {
			facts.UnattendedSince = d.Facts.UnattendedSince // That the cloud loops run nowhere is seen, paused or not.
			g.Expect(*d.Facts).To(Equal(facts))
		}
		g.Expect(d.Rows).To(Equal(want.Rows))
	}
}

func TestPausedStillSees(t *testing.T) {
	g := NewWithT(t)
	o := loud()
	o.Cluster.Spec.Paused = true
	o.Processes[0].EndedAt = microAgo(time.Second)
	facts := Decide(o, noon()).Facts
	g.Expect(facts.Handover.Processes[0].EndedAt).NotTo(BeNil())
	facts.Handover.Processes = o.Cluster.Status.Handover.Processes
	facts.UnattendedSince = nil
	g.Expect(*facts).To(Equal(o.Cluster.Status.Facts))

	o = unseen()
	o.Cluster.Spec.Paused, o.Cluster.Spec.Features.ExternalCloudProvider = true, nil
	g.Expect(Decide(o, noon()).Facts.Origin).To(Equal(ucv1.OriginInTree))
}

func deleted(given func() Observation) func() Observation {
	return func() Observation {
		o := given()
		o.Cluster.DeletionTimestamp = new(metav1.NewTime(noon()))
		return o
	}
}

func TestDeletion(t *testing.T) {
	runDecisions(t, map[string]decision{
		"before the start it just goes, and nothing is recorded": {
			given: deleted(fresh), step: ucv1.StepPreflight, action: outcome.ActionRelease,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.StartedAt).To(BeNil()) },
		},
		"before the hand-over it just goes": {given: deleted(applying), step: ucv1.StepAddons, action: outcome.ActionRelease},
		"the line before KCM is touched is not walked for its sake": {
			given: deleted(starting), when: func(o *Observation) { o.Cluster.Status.Baseline = &ucv1.BaselineStatus{} },
			step: ucv1.StepHandover, action: outcome.ActionRelease,
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.StartedAt).To(BeNil()) },
		},
		"with the feature off it just goes": {
			given: deleted(unseen), when: func(o *Observation) { o.Cluster.Spec.Features.ExternalCloudProvider = nil },
			step: ucv1.StepInTree, action: outcome.ActionRelease,
		},
		"in the hand-over it goes on": {given: deleted(loud), step: ucv1.StepHandover, line: "LoopsOff", action: outcome.ActionChangeArguments},
		"in the hand-over it says why it waits": {
			given: deleted(fenced), when: notReady, step: ucv1.StepHandover, line: "FenceOpen", wait: ucv1.NodesNotReadyReason,
			says: []string{"the deleted Cluster goes when the hand-over is complete"},
		},
		"between two MachineDeployments it goes": {given: deleted(rolling), step: ucv1.StepRoll, action: outcome.ActionRelease},
		"what the breaker took of one that was never rolled is given back": {
			given: deleted(rolling), when: firstDeployment(func(d *observation.MachineDeployment) { d.Guard = endless() }),
			step: ucv1.StepRoll, action: outcome.ActionReturnMinReady,
		},
		"one that is paused in the middle keeps it": {
			given: deleted(proving), when: firstDeployment(func(d *observation.MachineDeployment) { d.Paused = true }),
			step: ucv1.StepRoll, fails: ucv1.BlockedMachinesReason, says: []string{"is paused in the middle of its roll; unpause it"},
		},
		"what was begun is rolled out, step by step": {given: deleted(proving), step: ucv1.StepRoll, action: outcome.ActionStepMachineSet},
		"in the middle of a MachineDeployment it waits for that": {
			given: deleted(rolling), when: machines(func(m *observation.Machines) { m.Deployments[0].RestartValue = generation }),
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{
				"the deleted Cluster goes when what was begun is rolled out",
				"Waiting for the Machines of MachineDeployment kube-system/workers",
			},
		},
		"Machines that cannot be looked at are not taken for rolled out": {
			given: deleted(rolling), when: func(o *Observation) { o.Machines = observation.Unknown[observation.Machines]("timeout") },
			step: ucv1.StepRoll, wait: ucv1.CouldNotLookReason,
		},
		"Machines that cannot be looked at do not matter before anything was rolled": {
			given: deleted(recording), when: func(o *Observation) { o.Machines = observation.Unknown[observation.Machines]("timeout") },
			step: ucv1.StepRoll, action: outcome.ActionRelease,
		},
		"without its KCM it just goes": {
			given: deleted(loud), when: func(o *Observation) { o.ControlPlane = observation.Absent[observation.ControlPlane]() },
			step: ucv1.StepHandover, action: outcome.ActionRelease,
		},
		"a completed one just goes": {given: deleted(finished), step: ucv1.StepFinished, action: outcome.ActionRelease},
	})
}
