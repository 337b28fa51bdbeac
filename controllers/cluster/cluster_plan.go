package cluster

import (
	"cmp"
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/simulation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Plan says what the migration of a cluster would do from now on. It observes as a pass does, and what a pass renders only after
// the start is rendered as it would be then. Nothing is changed, in either cluster.
func (r *Reconciler) Plan(ctx context.Context, cluster *ucv1.Cluster, session *usercluster.Session) (plan.Plan, error) {
	s := &scope{cluster: cluster.DeepCopy(), session: session.DryRun(), now: r.Clock.Now()}
	s.observed = observation.Observation{
		Cluster: s.cluster, Deadlines: r.Deadlines, Contenders: r.observeContenders(ctx, s.cluster),
		Connection: observation.Connection{Reachable: true, Reason: ucv1.ReachableReason},
	}
	s.observed.NamespaceTerminating = r.observeNamespace(ctx, s.cluster)
	r.observeRecord(ctx, s)
	r.observeControlPlane(ctx, s)
	before := s.cluster.Status.Inherited
	if controlPlane, known := s.observed.ControlPlane.Get(); known && before == nil && controlPlane.KCM.Arguments.Understood() {
		s.cluster.Status.Inherited = migration.InheritedFrom(s.cluster, controlPlane.KCM.Arguments)
	}
	r.observeManagement(ctx, s)
	r.observeUserCluster(ctx, s)
	s.observed.MachineController = r.observeMachineController(ctx, s)
	s.observed.StorageClasses = s.session.Facts.StorageClasses(ctx)
	s.observed.Canary = s.session.Canary.Observe(ctx)
	r.observeFindings(ctx, s, migration.FactsOfStart(s.cluster))
	s.cluster.Status.Inherited = before

	input := plan.Input{Start: simulation.Start{Observation: s.observed, Now: s.now}, Pods: s.session.Facts.Evictable(ctx)}
	if err := r.planObjects(ctx, s, &input); err != nil {
		return plan.Plan{}, err
	}
	if s.observed.Machines.IsUnknown() {
		return plan.Plan{}, errors.New(s.observed.Machines.Why())
	}
	input.Pools = poolsOf(s.observed.Machines.Value())
	return plan.Make(input), nil
}

// poolsOf says how the Machines of each MachineDeployment are replaced, by its UID.
func poolsOf(machines observation.Machines) map[string]plan.Pool {
	pools := map[string]plan.Pool{}
	for _, deployment := range machines.Deployments {
		pools[deployment.UID] = plan.Pool{MaxSurge: deployment.MaxSurge, MaxUnavailable: deployment.MaxUnavailable}
	}
	return pools
}

// planObjects are the objects of the sets, and what a dry run says of them. Without any the plan ends where they are needed.
func (r *Reconciler) planObjects(ctx context.Context, s *scope, input *plan.Input) error {
	if len(s.addons.CCM.Objects) == 0 {
		return nil
	}
	withNodes := s.addons.WithNodes()
	ccm := addons.Refs(s.addons.CCM.Objects)
	input.Start.Objects = map[migration.AddonSetName][]observation.Ref{
		migration.CCMSet: ccm, migration.CSISet: addons.Refs(s.addons.CSI.Objects), migration.ProbeSet: addons.Refs(s.addons.Probe.Objects),
	}
	if all := addons.Refs(withNodes.Objects); len(all) > len(ccm) {
		input.Start.NodeAgents = all[len(ccm):]
	}
	dry, err := s.session.Addons.DryObjects(ctx, s.inventory, s.addons.CSI, withNodes, s.addons.Probe)
	input.Dry = dry
	return err
}

// planTimeout bounds a plan that is made in a pass; the command has none.
const planTimeout = passTimeout / 3

// observePlan foresees the migration where a person wants to approve it first.
func (r *Reconciler) observePlan(ctx context.Context, s *scope) {
	if !s.needs().Plan {
		s.observed.Plan = observation.Absent[observation.ForeseenPlan]()
		return
	}
	if s.session == nil {
		s.observed.Plan = observation.Unknown[observation.ForeseenPlan]("the user cluster is not reachable: " + s.observed.Connection.Message)
		return
	}
	kept := s.session.KeptPlan(s.cluster.Generation)
	if !migration.KeepsPlan(kept, s.cluster, s.now) {
		// What is left of the pass is for the status: it says that the plan took too long.
		ctx, cancel := context.WithTimeout(ctx, planTimeout)
		defer cancel()
		made, err := r.Plan(ctx, s.cluster, s.session)
		if err != nil {
			s.observed.Plan = observation.Unknown[observation.ForeseenPlan](err.Error())
			return
		}
		kept = observation.ForeseenPlan{Digest: made.Digest, Summary: made.Summary, MadeAt: s.now}
		s.session.KeepPlan(s.cluster.Generation, kept)
	}
	s.observed.Plan = observation.Known(kept)
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
