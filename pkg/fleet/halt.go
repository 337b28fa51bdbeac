package fleet

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// named is how many Clusters a halt names.
const named = 10

// stopped is why a FleetMigration admits no Cluster at all; empty where it may.
func (r *run) stopped() string {
	switch {
	case len(r.problems) > 0:
		return ucv1.FleetSpecInvalidReason
	case r.object.DeletionTimestamp != nil:
		return ucv1.DeletingReason
	case r.plan.Halt != nil:
		return ucv1.FleetHaltedReason
	case r.object.Spec.Rollback != nil:
		return ucv1.FleetRollsBackReason
	case r.plan.FirstWaveEmpty:
		return ucv1.FirstWaveEmptyReason
	case r.object.Spec.Mode == ucv1.FleetRun:
		return ""
	case r.object.Spec.Mode == ucv1.FleetPlanOnly:
		return ucv1.FleetPlanOnlyReason
	}
	return ucv1.FleetOnHoldReason // What is not known admits no Cluster, either.
}

// halt is latched: it stands until a person says that they have looked at what began before.
func (d *decision) halt(r *run) {
	for w := range r.waves {
		wave := &r.waves[w]
		wave.plan.Failures, wave.plan.MaxFailures = wave.failures, (limit{wave.MaxFailures}).of(wave.base(), false, "0")
	}
	if latched := r.object.Status.Halt; latched != nil && !r.forgiven(latched.At.Time) {
		r.plan.Halt = latched
		return
	}
	if r.object.Spec.Mode == ucv1.FleetPlanOnly {
		return // It lets no Cluster go that could fail.
	}
	failures := r.object.Spec.Failures
	for w := range r.waves {
		wave := &r.waves[w]
		if most := wave.plan.MaxFailures; wave.failures > most {
			d.haltFor(r, ucv1.MaxFailuresExceededReason, fmt.Sprintf("%s of wave %s, and %d may.",
				wording.Count(wave.failures, "failed Cluster", "failed Clusters"), wave.Name, most),
				func(p *MemberPlan) bool { return p.Wave == w })
			return
		}
	}
	if failures.Max != nil && r.failures > int(*failures.Max) {
		d.haltFor(r, ucv1.MaxFailuresExceededReason, fmt.Sprintf("%s, and %d may.",
			wording.Count(r.failures, "failed Cluster", "failed Clusters"), *failures.Max),
			func(*MemberPlan) bool { return true })
		return
	}
	d.haltAtOnce(r)
}

func (d *decision) haltFor(r *run, reason, message string, of func(*MemberPlan) bool) {
	r.plan.Halt = &ucv1.FleetHalt{At: metav1.NewTime(d.now), Reason: reason, Message: message +
		" Look at them, and set spec.failures.countSince to the time at which you did."}
	for _, i := range r.members {
		if p := &d.plan.Members[i]; p.State == Failed && !p.Forgiven && of(p) && len(r.plan.Halt.Clusters) < named {
			r.plan.Halt.Clusters = append(r.plan.Halt.Clusters, d.fleet.Members[i].String())
		}
	}
	slices.Sort(r.plan.Halt.Clusters)
}

// haltAtOnce for a reason after which no other Cluster may meet the same.
func (d *decision) haltAtOnce(r *run) {
	reasons := r.object.Spec.Failures.HaltAtOnce
	if reasons == nil {
		reasons = []string{
			ucv1.CloudLoopsContendedReason, ucv1.CloudLoopsUnattendedReason, ucv1.FenceIneffectiveReason, ucv1.InventoryChangedReason,
		}
	}
	for _, i := range r.members {
		m := &d.fleet.Members[i]
		if m.begun().IsZero() {
			continue
		}
		for _, t := range m.Troubles {
			if slices.Contains(reasons, t.Reason) && !r.forgiven(t.Since) {
				r.plan.Halt = &ucv1.FleetHalt{
					At: metav1.NewTime(d.now), Reason: t.Reason, Clusters: []string{m.String()},
					Message: fmt.Sprintf("Cluster %s has %s. Look at it, and set spec.failures.countSince to the time at which you did.",
						m, t.Reason),
				}
				return
			}
		}
	}
}
