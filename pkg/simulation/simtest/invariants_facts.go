package simtest

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// persisting checks what is written into the status: facts that the world cannot say again are never lost.
func (i *invariants) persisting(w *World, p pass) {
	before, after := w.Facts(), *p.Decision.Facts
	if w.Cluster.Status.Origin == "" && after.Origin == "" {
		return // The record is left as it is.
	}
	if forgets(before, after) {
		i.checkRolledBack(w, before)
		return
	}
	i.checkKept(lasting(before), lasting(after))
	if before.DefaultStorageClass == nil {
		i.judged(p, after)
	}
	if before.RenamedLoadBalancers == nil && after.RenamedLoadBalancers != nil {
		i.checkRenamed(w)
	}
	if after.Baseline != nil && w.Baseline == nil {
		i.fail("fact baseline is persisted, but the baseline is not stored")
	}
	if after.CompletedAt != nil && before.CompletedAt == nil {
		checkNothingLeft(i, w, "the migration counts as completed")
		i.checkProven(p, after)
	}
}

func (i *invariants) checkProven(p pass, after ucv1.Facts) {
	if after.Origin == ucv1.OriginMigrating && len(p.truth.unproven) > 0 {
		i.fail("completed, but not proven: %v", p.truth.unproven)
	}
}

func (i *invariants) checkKept(before, after map[string]string) {
	for name, value := range before {
		if value != "" && value != after[name] {
			i.fail("fact %s was %q and becomes %q", name, value, after[name])
		}
	}
}

// forgets: the end of a rollback, and the new beginning after it.
func forgets(before, after ucv1.Facts) bool {
	return (after.Rollback != nil && after.Rollback.FinishedAt != nil) || (before.Rollback != nil && after.Rollback == nil)
}

// checkRolledBack: what is recorded as rolled back is in-tree, and the CCM is silent.
func (i *invariants) checkRolledBack(w *World, before ucv1.Facts) {
	if before.Handover == nil {
		return
	}
	i.checkCCMSilent(w, "the migration counts as rolled back")
	if len(unlocked(w.ControlPlane.KCM().Arguments)) == 0 {
		i.fail("the migration counts as rolled back, and KCM runs no cloud loop")
	}
	checkNothingLeft(i, w, "the migration counts as rolled back")
	for object, there := range w.Addons.Probe.Present {
		if there {
			i.fail("the migration counts as rolled back, and %s of the probe is left", object.Kind)
		}
	}
	if w.Leases.Lock.Granted || w.Leases.Lock.File || w.Leases.Lock.Holder != "" {
		i.fail("the migration counts as rolled back, and something of the migration lock is left")
	}
	for _, m := range w.Machines.All {
		if m.External && !m.Deleting() {
			i.fail("the migration counts as rolled back, and Machine %s is external", m.Name)
		}
	}
}

// rollingBack: a MachineDeployment that was in-tree all the time is left alone.
func (i *invariants) rollingBack(w *World, d *simulation.MachineDeployment) {
	started := w.Facts().StartedAt.Time
	for _, s := range w.Machines.SetsOf(d) {
		if !d.Current(s) || s.External || !s.CreatedAt.Before(started) {
			continue
		}
		if external := slices.ContainsFunc(
			w.Machines.Of(s),
			func(m *simulation.Machine) bool { return m.External || m.Annotation == "true" },
		); !external {
			i.fail("rule 5: MachineDeployment %s is rolled back although it is in-tree", d.Name)
		}
	}
}

// lasting are the facts that never change once they are set, as text.
func lasting(f ucv1.Facts) map[string]string {
	facts := map[string]string{
		"startedAt": moment(f.StartedAt), "completedAt": moment(f.CompletedAt), "rollGeneration": f.RollGeneration,
	}
	if f.Origin != ucv1.OriginInTree {
		facts["origin"] = string(f.Origin)
	}
	if f.Inherited != nil {
		facts["inherited"] = f.Inherited.ClusterName
	}
	if f.DefaultStorageClass != nil {
		facts["defaultStorageClass"] = f.DefaultStorageClass.Name
	}
	if f.RenamedLoadBalancers != nil {
		facts["renamedLoadBalancers"] = moment(f.RenamedLoadBalancers.FinishedAt)
	}
	if f.Baseline != nil {
		facts["baseline"] = f.Baseline.Digest
	}
	return facts
}

func moment(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// checkAttendance: what is said of the cloud loops is so. A Lease tells of the end of its holder one duration late.
func (i *invariants) checkAttendance(w *World, o observation.Observation, d migration.Decision) {
	if !o.Cluster.ExternalCloudProvider() || w.CCM.Stopped {
		return // A person who renews the CCM's Lease by hand is believed.
	}
	a := d.Attendance
	most := simulation.LeaseDuration + simulation.RetryPeriod
	if attended := w.Now.Sub(i.lastAttended); a.Status == metav1.ConditionTrue && attended > most {
		i.fail("cloud loops are said to be attended (%s), and ran last %s ago", a.Message, attended)
	}
	if a.Undecided || !looksClearly(w, o) {
		return
	}
	if a.Status == metav1.ConditionFalse && len(running(w, observation.ServiceLoop)) > 0 {
		i.fail("cloud loops are said to be unattended (%s), and run", a.Message)
	}
	if served := w.Now.Sub(i.lastServed); a.NeedsPerson && served < time.Minute {
		i.fail("a person is called for cloud loops that ran %s ago: %s", served, a.Message)
	}
}

// looksClearly says that what shows who runs the loops could be looked at, that no manager is cut off from its API server, and
// that none runs on without its pod.
func looksClearly(w *World, o observation.Observation) bool {
	for _, p := range append(slices.Clone(w.ControlPlane.Processes), w.CCM.Processes...) {
		if w.Now.Before(p.HungUntil) || !p.OrphanedAt.IsZero() {
			return false
		}
	}
	return o.ControlPlane.IsKnown() && o.KCMLease.IsKnown() && o.CCMLease.IsKnown() && !o.Lock.IsUnknown() && !o.Fence.IsUnknown()
}
