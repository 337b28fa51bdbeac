package fleet_test

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// person does what people and GitOps do in the middle.
func (w *world) person() {
	if len(w.clusters) == 0 || len(w.fms) == 0 {
		return
	}
	c, fm := w.clusters[w.rng.IntN(len(w.clusters))], w.fms[w.rng.IntN(len(w.fms))]
	changes := []func(*cluster, *ucv1.FleetMigration){
		w.changeTier, w.changeTeam, w.deleteCluster, w.makeCluster, w.setFeature, w.deleteMigration, w.changeMode,
		w.changeConcurrency, w.loseCluster, w.pause, w.stepClock, w.letGoAtOnce, w.rollBack,
	}
	// Who draws the last number changes nothing.
	if at := w.rng.IntN(14); at < len(changes) {
		changes[at](c, fm)
	}
}

func (w *world) changeTier(c *cluster, _ *ucv1.FleetMigration) {
	c.truth.Labels = copied(c.truth.Labels, "tier", pick(w.rng, "canary", "prod", "rest", "typo"))
}

func (w *world) changeTeam(c *cluster, _ *ucv1.FleetMigration) {
	c.truth.Labels = copied(c.truth.Labels, "team", pick(w.rng, "x", "y", "z"))
}

func (w *world) deleteCluster(c *cluster, _ *ucv1.FleetMigration) {
	w.clusters = slices.DeleteFunc(w.clusters, func(other *cluster) bool { return other == c })
}

func (w *world) makeCluster(*cluster, *ucv1.FleetMigration) { w.newCluster() }

func (w *world) setFeature(c *cluster, _ *ucv1.FleetMigration) { c.feature = true }

// deleteMigration and, often, make one that selects the same Clusters.
func (w *world) deleteMigration(_ *cluster, fm *ucv1.FleetMigration) {
	w.fms = slices.DeleteFunc(w.fms, func(other *ucv1.FleetMigration) bool { return other == fm })
	w.say("%s is deleted", fm.Name)
	if w.chance(0.7) {
		w.newMigration(fm.Spec.ClusterSelector)
	}
}

func (w *world) changeMode(_ *cluster, fm *ucv1.FleetMigration) {
	fm.Spec.Mode = pick(w.rng, ucv1.FleetRun, ucv1.FleetHold, ucv1.FleetPlanOnly)
	fm.Generation++
}

func (w *world) changeConcurrency(_ *cluster, fm *ucv1.FleetMigration) {
	fm.Spec.Waves[w.rng.IntN(3)].MaxConcurrency = limitOf(w.rng, "0", "1", "3", "250%")
	fm.Generation++
}

func (w *world) loseCluster(c *cluster, _ *ucv1.FleetMigration) {
	c.lostUntil = w.now.Add(time.Duration(w.rng.IntN(60)) * time.Minute)
}

// pause a Cluster, or let it go on.
func (w *world) pause(c *cluster, _ *ucv1.FleetMigration) {
	m := &c.truth
	if m.Paused {
		if !m.StartedAt.IsZero() {
			m.PausedFor += w.now.Sub(c.pausedAt)
		}
		m.Paused = false
		return
	}
	m.Paused, c.pausedAt = true, w.now
}

func (w *world) stepClock(*cluster, *ucv1.FleetMigration) {
	w.now = w.now.Add(time.Duration(w.rng.IntN(3)-1) * 10 * time.Minute)
}

func (w *world) letGoAtOnce(c *cluster, _ *ucv1.FleetMigration) { c.truth.Immediate = true }

// rollBack what is in flight, or stop that.
func (w *world) rollBack(_ *cluster, fm *ucv1.FleetMigration) {
	fm.Spec.Rollback = &ucv1.FleetRollback{Waves: []string{"canary", "prod"}, Scope: ucv1.RollbackInFlight}
	if w.chance(0.7) {
		fm.Spec.Rollback = nil
	}
	fm.Generation++
}

func copied(labels map[string]string, key, value string) map[string]string {
	clone := map[string]string{key: value}
	for k, v := range labels {
		if k != key {
			clone[k] = v
		}
	}
	return clone
}

// attend to what asks for a person.
func (w *world) attend() {
	for _, fm := range w.fms {
		if fm.Status.Halt != nil && w.chance(0.2) {
			fm.Spec.Failures.CountSince = &metav1.Time{Time: w.now}
			fm.Generation++
		}
		for _, wave := range fm.Status.Waves {
			if wave.State == ucv1.WaveAwaitingApproval && wave.Gate != nil && w.chance(0.3) {
				fm.Spec.Approvals = slices.DeleteFunc(fm.Spec.Approvals, func(a ucv1.ApprovedWave) bool { return a.Wave == wave.Name })
				fm.Spec.Approvals = append(fm.Spec.Approvals, ucv1.ApprovedWave{Wave: wave.Name, GateDigest: wave.Gate.Digest})
				fm.Generation++
			}
		}
	}
}
