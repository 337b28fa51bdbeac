package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// touched is when KCM's Deployment was touched last.
func touched(before time.Duration) func(*Observation) {
	return func(o *Observation) { o.Cluster.Status.Handover.TouchedAt = microAgo(before) }
}

func untouched(o *Observation) { o.Cluster.Status.Handover.TouchedAt = nil }

func TestWhoReconcilesKCMGetsTheTimeToDoSo(t *testing.T) {
	runDecisions(t, map[string]decision{
		"KCM is touched after its loops are off": {
			given: fenced, when: untouched, step: ucv1.StepHandover, line: "Settled", action: outcome.ActionTouch,
			says:  []string{"Touching Deployment user-alpha/kube-controller-manager"},
			facts: func(g Gomega, f ucv1.Facts) { g.Expect(f.Handover.TouchedAt.Time).To(Equal(noon())) },
		},
		"a touch before that change does not count": {
			given: fenced, when: touched(2*time.Minute + time.Second), step: ucv1.StepHandover, line: "Settled", action: outcome.ActionTouch,
		},
		"no fence opens within three seconds": {
			given: fenced, when: touched(2900 * time.Millisecond), step: ucv1.StepHandover, line: "Settled",
			wait: ucv1.ProvingSilenceReason, says: []string{"3s to write its former arguments back"},
		},
		"afterwards silence is asked": {
			given: fenced, when: touched(3 * time.Second), step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"with the lock it is touched while it still runs the loops": {
			given: kcmLocked, when: untouched, step: ucv1.StepHandover, line: "Settled", action: outcome.ActionTouch,
		},
		"a KCM that someone else changes is not touched": {
			given: instructedFenced, when: untouched, step: ucv1.StepHandover, line: "FenceOpen", action: outcome.ActionOpenFence,
		},
		"nor one behind an open fence": {
			given: fenced, when: func(o *Observation) { untouched(o); edit(&o.Fence, func(f *observation.Fence) { f.Open = true }) },
			step: ucv1.StepHandover, line: "Leading", wait: ucv1.WaitingForLeaderReason,
		},
		"after a contention it is touched again, before the fence opens again": {
			given: contendedSince(silentArguments()), when: func(o *Observation) { fenceClosed(o); touched(time.Hour)(o) },
			step: ucv1.StepHandover, line: "Settled", action: outcome.ActionTouch,
		},
		"not while no one knows whether it is open": {
			given: serializedAt(fenced), when: func(o *Observation) {
				untouched(o)
				o.Fence = observation.Unknown[observation.Fence]("timeout")
			}, step: ucv1.StepHandover, line: "Settled", wait: ucv1.CouldNotLookReason, says: []string{"the fence: timeout"},
		},
	})
}
