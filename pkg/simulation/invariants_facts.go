package simulation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// persisting checks what is written into the status: facts that the world cannot say again are never lost.
func (i *invariants) persisting(w *World, p pass) {
	before, after := w.facts(), *p.decision.Facts
	if w.cluster.Status.Origin == "" && after.Origin == "" {
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
	if after.Baseline != nil && w.baseline == nil {
		i.fail("fact baseline is persisted, but the baseline is not stored")
	}
	if after.CompletedAt != nil && before.CompletedAt == nil {
		i.checkNothingLeft(w, "the migration counts as completed")
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

// forgets: the end of an undo, and the new beginning after it.
func forgets(before, after ucv1.Facts) bool {
	return (after.Rollback != nil && after.Rollback.FinishedAt != nil) || (before.Rollback != nil && after.Rollback == nil)
}

// checkRolledBack: what is recorded as undone is in-tree, and the CCM is silent.
func (i *invariants) checkRolledBack(w *World, before ucv1.Facts) {
	if before.Handover == nil {
		return
	}
	i.checkCCMSilent(w, "the migration counts as undone")
	if len(unlocked(w.controlPlane.kcm().arguments)) == 0 {
		i.fail("the migration counts as undone, and KCM runs no cloud loop")
	}
	i.checkNothingLeft(w, "the migration counts as undone")
	for object, there := range w.addons.probe.present {
		if there {
			i.fail("the migration counts as undone, and %s of the probe is left", object.Kind)
		}
	}
	if w.leases.lock.granted || w.leases.lock.file || w.leases.lock.holder != "" {
		i.fail("the migration counts as undone, and something of the migration lock is left")
	}
	for _, m := range w.machines.all {
		if m.external && !m.deleting() {
			i.fail("the migration counts as undone, and Machine %s is external", m.name)
		}
	}
}

// rollingBack: a MachineDeployment that was in-tree all the time is left alone.
func (i *invariants) rollingBack(w *World, d *machineDeployment) {
	started := w.facts().StartedAt.Time
	for _, s := range w.machines.setsOf(d) {
		if !d.current(s) || s.external || !s.createdAt.Before(started) {
			continue
		}
		if external := slices.ContainsFunc(
			w.machines.of(s),
			func(m *machine) bool { return m.external || m.annotation == "true" },
		); !external {
			i.fail("rule 5: MachineDeployment %s is rolled back although it is in-tree", d.name)
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
	if !o.Cluster.ExternalCloudProvider() || w.ccm.stopped {
		return // A person who renews the CCM's Lease by hand is believed.
	}
	a := d.Attendance
	if attended := w.now.Sub(i.lastAttended); a.Status == metav1.ConditionTrue && attended > leaseDuration+retryPeriod {
		i.fail("cloud loops are said to be attended (%s), and ran last %s ago", a.Message, attended)
	}
	if a.Undecided || !looksClearly(w, o) {
		return
	}
	if a.Status == metav1.ConditionFalse && len(running(w, observation.ServiceLoop)) > 0 {
		i.fail("cloud loops are said to be unattended (%s), and run", a.Message)
	}
	if served := w.now.Sub(i.lastServed); a.NeedsPerson && served < time.Minute {
		i.fail("a person is called for cloud loops that ran %s ago: %s", served, a.Message)
	}
}

// looksClearly says that what shows who runs the loops could be looked at, that no manager is cut off from its API server, and
// that none runs on without its pod.
func looksClearly(w *World, o observation.Observation) bool {
	for _, p := range append(slices.Clone(w.controlPlane.processes), w.ccm.processes...) {
		if w.now.Before(p.hungUntil) || !p.orphanedAt.IsZero() {
			return false
		}
	}
	return o.ControlPlane.IsKnown() && o.KCMLease.IsKnown() && o.CCMLease.IsKnown() && !o.Lock.IsUnknown() && !o.Fence.IsUnknown()
}
