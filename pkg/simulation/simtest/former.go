package simtest

import (
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// drainLeader evicts the pod of the CCM that leads, as the drain of its Node does.
func drainLeader(w *World) {
	if leader := w.CCM.Leader(); leader != nil {
		w.Say("fault: %s is evicted", leader.PodName)
		w.CCM.Retire(leader)
	}
}

func evictCCM(w *World) {
	if p, ok := pick(w, w.CCM.Processes); ok && p.Alive() {
		w.Say("fault: %s is evicted", p.PodName)
		w.CCM.Retire(p)
	}
}

// checkRight: what we granted ourselves for a time is taken back.
func checkRight(i *invariants, w *World, o observation.Observation, d migration.Decision) {
	over := d.Step == ucv1.StepFinished || d.Step == ucv1.StepRolledBack && o.Cluster.Status.Rollback.FinishedAt != nil
	if over && d.Next() == nil && w.Leases.MayFreeKCM {
		i.fail("the right to free KCM's Lease is left at step %s", d.Step)
	}
}

// checkFreed: only the Lease of a process that has ended is freed, with the right to, and in a migration.
func checkFreed(i *invariants, w *World, action outcome.Action) {
	l := w.Leases.Named(action.Lease.Name)
	if l == &w.Leases.KCM && !w.Leases.MayFreeKCM {
		i.fail("KCM's Lease is freed without the right to")
	}
	if l.Version() != action.Lease.Version {
		return
	}
	for _, p := range slices.Concat(w.ControlPlane.Processes, w.CCM.Processes) {
		if p.Alive() && p.Identity() == l.Holder {
			i.fail("rule 2: a Lease is freed from %s, whose process goes on", p.PodName)
		}
	}
	if facts := w.Facts(); facts.StartedAt == nil || w.Cluster.Spec.Paused {
		i.fail("rule 2: a Lease is freed of %s at rest", l.Holder)
	}
}

// aboutLeases says that what is done only makes the time short in which no one leads: it comes before what is done otherwise.
func aboutLeases(d migration.Decision) bool {
	return does(d, outcome.ActionFreeLease) || does(d, outcome.ActionGrantLease) || does(d, outcome.ActionRevokeLease) ||
		does(d, outcome.ActionKeepLeader)
}

// sameBut: the action is the same, but for what is done about Leases.
func sameBut(d, without migration.Decision) bool {
	return does(d, without.Next().Kind) || aboutLeases(d) || aboutLeases(without)
}
