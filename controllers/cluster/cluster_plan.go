package cluster

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/simulation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Plan says what the migration of a cluster would do from now on. It observes as a pass does, and what a pass renders only after
// the start is rendered as it would be then. Nothing is changed, in either cluster.
func (o *Observer) Plan(ctx context.Context, cluster *ucv1.Cluster, session *usercluster.Session, now time.Time) (plan.Plan, error) {
	made, _, err := o.plan(ctx, cluster, session, now)
	return made, err
}

// plan also returns what it rests on.
func (o *Observer) plan(
	ctx context.Context, cluster *ucv1.Cluster, session *usercluster.Session, now time.Time,
) (made plan.Plan, basis string, err error) {
	s := &scope{cluster: cluster.DeepCopy(), session: session.DryRun(), now: now}
	o.observeCluster(ctx, s)
	s.observed.Connection = observation.Connection{Reachable: true, Reason: ucv1.ReachableReason}
	o.observeControlPlane(ctx, s)
	before := s.cluster.Status.Inherited
	if controlPlane, known := s.observed.ControlPlane.Get(); known && before == nil && controlPlane.KCM.Arguments.Understood() {
		s.cluster.Status.Inherited = migration.InheritedFrom(s.cluster, controlPlane.KCM.Arguments)
	}
	o.observeManagement(ctx, s)
	o.observeUserCluster(ctx, s)
	s.observed.MachineController = o.observeMachineController(ctx, s)
	s.observed.StorageClasses = s.session.StorageClasses(ctx)
	s.observed.Canary = s.session.Canary(ctx)
	o.observeFindings(ctx, s, migration.FactsOfStart(s.cluster))
	s.cluster.Status.Inherited = before

	input := plan.Input{Start: simulation.Start{Observation: s.observed, Now: s.now}, Pods: s.session.Evictable(ctx)}
	if err := o.planObjects(ctx, s, &input); err != nil {
		return plan.Plan{}, "", err
	}
	pools, err := s.session.Pools(ctx)
	if err != nil {
		return plan.Plan{}, "", err
	}
	input.Pools = pools
	return plan.Make(input), basisOf(s), nil
}

// planObjects are the objects of the sets, and what a dry run says of them. Without any the plan ends where they are needed.
func (o *Observer) planObjects(ctx context.Context, s *scope, input *plan.Input) error {
	if len(s.addons.CCM.Objects) == 0 {
		return nil
	}
	withNodes := s.addons.WithNodes()
	ccm := usercluster.Refs(s.addons.CCM.Objects)
	input.Start.Objects = map[migration.AddonSetName][]observation.Ref{
		migration.CCMSet: ccm, migration.CSISet: usercluster.Refs(s.addons.CSI.Objects), migration.ProbeSet: usercluster.Refs(s.addons.Probe.Objects),
	}
	if all := usercluster.Refs(withNodes.Objects); len(all) > len(ccm) {
		input.Start.NodeAgents = all[len(ccm):]
	}
	dry, err := s.session.DryObjects(ctx, s.inventory, s.addons.CSI, withNodes, s.addons.Probe)
	input.Dry = dry
	return err
}

// setPlan keeps the plan as it was last seen: after the start, the one that it started with.
func setPlan(status *ucv1.ClusterStatus, s *scope) {
	seen, known := s.observed.Plan.Get()
	if !known {
		return
	}
	madeAt := new(metav1.NewTime(s.now))
	if status.Plan != nil && status.Plan.Digest == seen.Digest {
		madeAt = cmp.Or(status.Plan.MadeAt, madeAt)
	}
	status.Plan = &ucv1.PlanStatus{Digest: seen.Digest, Summary: wording.Bounded(seen.Summary, maxMessage), MadeAt: madeAt}
}
