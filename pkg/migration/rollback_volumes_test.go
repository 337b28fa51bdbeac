package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// withGates is a rollback in which KCM has gates of the catalogue beside one of its own.
func withGates(stage func() Observation) func() Observation {
	return func() Observation {
		o := stage()
		edit(&o.Provider, func(p *observation.Provider) { p.MigrationGates = map[string]bool{"CSIMigrationX": true} })
		edit(&o.ControlPlane, func(c *observation.ControlPlane) {
			c.KCM.Arguments.Flags["feature-gates"] = "A=true,CSIMigrationX=true"
		})
		return o
	}
}

func attachedByCSI(o *Observation) {
	o.Attachments = observation.Known(
		[]observation.Attachment{{Name: "csi-1", Attacher: "cinder.csi.openstack.org", Node: "n9", Volume: "pv"}},
	)
}

func TestGatesOfARollback(t *testing.T) {
	granted := func(o *Observation) { o.Cluster.Status.Handover.KCMLeaseGrantedAt = stampAgo(time.Minute) }
	on := []string{"its cloud loops back: the CCM is silent"}
	runDecisions(t, map[string]decision{
		"they come with the loops": {
			given: withGates(quiet), step: ucv1.StepRollbackLoops, action: outcome.ActionChangeArguments,
			says: []string{"its cloud loops " +
				"back, and its feature gates"},
		},
		"not while a volume is attached through them, and the loops do not wait": {
			given: withGates(quiet), when: attachedByCSI, step: ucv1.StepRollbackLoops, action: outcome.ActionChangeArguments, says: on,
		},
		"nor while no one can say": {
			given:  withGates(quiet),
			when:   func(o *Observation) { o.Attachments = observation.Unknown[[]observation.Attachment]("timeout") },
			step:   ucv1.StepRollbackLoops,
			action: outcome.ActionChangeArguments,
			says:   on,
		},
		"a KCM that never lost its loops gets them back alone": {
			given:  withGates(loopsBack),
			when:   granted,
			step:   ucv1.StepRollbackVolumes,
			action: outcome.ActionChangeArguments,
			says:   []string{"Switching feature gates back"},
		},
		"then they wait for what is attached through them": {
			given: withGates(loopsBack), when: attachedByCSI, step: ucv1.StepRollbackVolumes, wait: ucv1.WaitingForVolumesReason,
			says: []string{"KCM has its cloud loops", "csi-1 on Node n9"},
		},
		"a volume of the driver's own needs no gate": {
			given: withGates(loopsBack), when: func(o *Observation) {
				granted(o)
				attachedByCSI(o)
				edit(&o.Inventory, func(i *observation.Inventory) {
					i.Volumes = append(i.Volumes, observation.Volume{Name: "late", UID: "late", Driver: "cinder.csi.openstack.org"})
				})
				edit(&o.Attachments, func(a *[]observation.Attachment) { (*a)[0].Volume = "late" })
			}, step: ucv1.StepRollbackVolumes, action: outcome.ActionChangeArguments,
		},
	})
}

func TestTheLoopsAreGivenBackWithTheGatesInOneChange(t *testing.T) {
	g := NewWithT(t)
	o := withGates(quiet)()
	g.Expect(Decide(o, noon()).Next().Arguments.Set).To(ConsistOf(
		outcome.Flag{Name: "--controllers", Value: "*,tokencleaner"}, outcome.Flag{Name: "--feature-gates", Value: "A=true"}))
	attachedByCSI(&o)
	g.Expect(Decide(o, noon()).Next().Arguments.Set).To(ConsistOf(outcome.Flag{Name: "--controllers", Value: "*,tokencleaner"}))
}

// TestAKCMThatHasItsLoopsBackMayRollOut: its gates may follow hours later.
func TestAKCMThatHasItsLoopsBackMayRollOut(t *testing.T) {
	late := func(o *Observation) {
		o.Cluster.Status.Rollback.WorkloadWithdrawnAt, o.Cluster.Status.Rollback.LoopsOnAt = stampAgo(time.Hour), stampAgo(
			50*time.Minute,
		)
		edit(&o.ControlPlane, func(c *observation.ControlPlane) { c.KCM.RolledOut = false })
	}
	runDecisions(t, map[string]decision{
		"while it runs the loops that is no failure": {
			given: loopsBack,
			when:  late,
			step:  ucv1.StepRollbackLoops,
			wait:  ucv1.RollingOutReason,
		},
		"nor when it stopped a moment ago": {
			given: loopsBack, when: func(o *Observation) { late(o); o.Cluster.Status.UnattendedSince = stampAgo(time.Minute) },
			step: ucv1.StepRollbackLoops, wait: ucv1.RollingOutReason,
		},
		"where no one has run them for too long a person is called": {
			given: loopsBack, when: func(o *Observation) {
				late(o)
				o.Cluster.Status.UnattendedSince = stampAgo(11 * time.Minute)
			},
			step: ucv1.StepRollbackLoops, fails: ucv1.RollingOutReason, says: []string{"no one may be running"},
		},
		"also where no one ran them before": {
			given: loopsBack, when: func(o *Observation) { late(o); o.Cluster.Status.UnattendedSince = stampAgo(2 * time.Hour) },
			step: ucv1.StepRollbackLoops, fails: ucv1.RollingOutReason,
		},
	})
}
