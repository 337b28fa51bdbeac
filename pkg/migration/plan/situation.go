package plan

import (
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// situation is what a plan is about: the same words are true of one and false of another.
type situation struct {
	cluster *ucv1.Cluster
	// now is when the cluster was observed.
	now time.Time
	// deleted, rollingBack and rolledBack say what is planned instead of a migration. A rolled-back cluster stays so in the plan,
	// too.
	deleted, rollingBack, rolledBack bool
	// external is a cluster that was created with the feature.
	external bool
}

func situationOf(in Input, future simulation.Future) situation {
	cluster := in.Start.Observation.Cluster
	s := situation{
		cluster:  cluster,
		now:      in.Start.Now,
		deleted:  !cluster.DeletionTimestamp.IsZero(),
		external: future.Facts.Origin == ucv1.OriginExternal,
	}
	if ends := future.Facts.Rollback; ends != nil {
		s.rolledBack = cluster.Status.Rollback != nil && cluster.Status.Rollback.FinishedAt != nil
		s.rollingBack = !s.rolledBack
	}
	return s
}

// migrates says that a hand-over, or what follows it, lies ahead.
func (s situation) migrates() bool {
	return !s.rollingBack && !s.rolledBack && !s.external && s.cluster.Status.CompletedAt == nil
}

// handsOver says that the protocol of the hand-over still matters.
func (s situation) handsOver() bool {
	handover := s.cluster.Status.Handover
	return !s.rollingBack && !s.rolledBack && (handover == nil || handover.FinishedAt == nil)
}

// starts says that preflight is still to be judged.
func (s situation) starts() bool {
	return !s.deleted && !s.rollingBack && !s.rolledBack && s.cluster.Status.Handover == nil
}

// sentence says where the cluster stands, and what the plan does not wait for.
func (s situation) sentence() string {
	sentences := []string{s.stands()}
	spec := s.cluster.Spec
	if spec.Paused {
		sentences = append(sentences, "spec.paused is true: nothing of this is done before it is false.")
	}
	if spec.Mode == ucv1.PlanOnlyMode && s.starts() && s.cluster.ExternalCloudProvider() {
		sentences = append(sentences, "spec.mode is PlanOnly: nothing of this is done before spec.approval.planDigest is the digest "+
			"of the plan.")
	}
	if retry := spec.Handover.RetryAfter; retry != nil && s.restarts() && retry.After(s.now) {
		sentences = append(sentences, "spec.handover.retryAfter is "+timestamp(retry.Time)+": nothing of this is done before.")
	}
	return strings.Join(sentences, " ")
}

// restarts says that the plan is of the migration that follows a rollback.
func (s situation) restarts() bool {
	return s.cluster.Status.Rollback != nil && !s.rollingBack && !s.rolledBack
}

func (s situation) stands() string {
	status := s.cluster.Status
	switch {
	case s.deleted:
		return "The Cluster is being deleted."
	case s.rolledBack, s.rollingBack, s.restarts():
		return s.rollbackState()
	case !s.cluster.ExternalCloudProvider():
		return "The feature is off. The plan begins when spec.features.externalCloudProvider is true."
	case s.external:
		return "The cluster was created with the external cloud provider: there is nothing to migrate."
	case status.CompletedAt != nil:
		return "The migration was completed at " + timestamp(status.CompletedAt.Time) + "."
	case status.Handover == nil:
		return "The migration has not started."
	}
	return "The migration has started."
}

// rollbackState says how far a rollback is.
func (s situation) rollbackState() string {
	rollback := s.cluster.Status.Rollback
	switch {
	case s.rolledBack && s.cluster.Spec.Handover.Rollback:
		return "The migration was rolled back, and stays so while spec.handover.rollback is true."
	case s.rolledBack:
		return "The migration was rolled back, and stays so until spec.handover.retryAfter is later than " +
			timestamp(rollback.FinishedAt.Time) + "."
	case s.rollingBack && rollback == nil:
		return "A rollback is asked for, and has not begun."
	case s.rollingBack:
		return "The migration is being rolled back."
	}
	return "The migration was rolled back, and starts again."
}

// ending is the last sentence of a plan that no person has to help.
func (s situation) ending(future simulation.Future, changes int) string {
	switch {
	case future.Released:
		return "The deleted Cluster goes."
	case s.rolledBack:
		return "It stays rolled back."
	case s.rollingBack:
		return "The rollback completes automatically: KCM runs the cloud loops again."
	case changes == 0:
		return "Nothing is left to do."
	}
	return "It completes automatically."
}

// noReturn is said of a plan in which the rollback is not judged.
func (s situation) noReturn() string {
	switch {
	case s.rollingBack:
		return "This is the rollback. It ends with KCM running the cloud loops."
	case s.rolledBack:
		return "The migration is rolled back: KCM runs the cloud loops."
	case s.external:
		return "There is no way back: the cluster was created with the external cloud provider."
	}
	return "There is nothing to roll back: no cloud loop is handed over."
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
