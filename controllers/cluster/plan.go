package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// PlanInput is what a plan of the migration from now on is made from. It is observed as in a pass, and what a pass renders only
// after the start is rendered as it would be then. Nothing is changed, in either cluster.
func (o *Observer) PlanInput(
	ctx context.Context,
	cluster *ucv1.Cluster,
	session *usercluster.Session,
	now time.Time,
) (plan.Input, error) {
	input, _, err := o.planInput(ctx, cluster, session, now)
	return input, err
}

// planInput is what a plan is made from, and what it rests on.
func (o *Observer) planInput(
	ctx context.Context, cluster *ucv1.Cluster, session *usercluster.Session, now time.Time,
) (input plan.Input, basis string, err error) {
	ctx = kept.Live(ctx) // A plan is as old as what was read for it.
	s := &scope{Pass: status.Pass{Cluster: cluster.DeepCopy(), Now: now}, session: session.DryRun()}
	o.observeCluster(ctx, s, observation.Absent[observation.Turn]()) // A plan is of a start now.
	s.Observed.Connection = observation.Connection{Reachable: true, Reason: ucv1.ReachableReason}
	o.observeControlPlane(ctx, s)
	before := s.Cluster.Status.Inherited
	if controlPlane, known := s.Observed.ControlPlane.Get(); known && before == nil && controlPlane.KCM.Arguments.Understood() {
		s.Cluster.Status.Inherited = start.InheritedFrom(s.Cluster, controlPlane.KCM.Arguments)
	}
	o.observeManagement(ctx, s)
	o.userCluster.observe(ctx, s)
	o.observeMachineController(ctx, s)
	s.Observed.StorageClasses = s.session.Facts.StorageClasses(ctx)
	s.Observed.Canary = s.session.Canary.Observe(ctx)
	o.userCluster.observeFindings(ctx, s, start.Facts(s.Cluster))
	s.Cluster.Status.Inherited = before

	input = plan.Input{Start: simulation.Start{Observation: s.Observed, Now: s.Now}, Pods: s.session.Facts.Evictable(ctx)}
	if err := s.planObjects(ctx, &input); err != nil {
		return plan.Input{}, "", err
	}
	if s.Observed.Machines.IsUnknown() {
		return plan.Input{}, "", errors.New(s.Observed.Machines.Why())
	}
	input.Pools = poolsOf(s.Observed.Machines.Value())
	return input, basisOf(s), nil
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
func (s *scope) planObjects(ctx context.Context, input *plan.Input) error {
	if len(s.addons.CCM.Objects) == 0 {
		return nil
	}
	withNodes := s.addons.WithNodes()
	ccm := addons.Refs(s.addons.CCM.Objects)
	input.Start.Objects = map[outcome.AddonSetName][]observation.Ref{
		outcome.CCMSet: ccm, outcome.CSISet: addons.Refs(s.addons.CSI.Objects), outcome.ProbeSet: addons.Refs(s.addons.Probe.Objects),
	}
	if all := addons.Refs(withNodes.Objects); len(all) > len(ccm) {
		input.Start.NodeAgents = all[len(ccm):]
	}
	dry, err := s.session.Addons.DryObjects(ctx, s.inventory, s.addons.CSI, withNodes, s.addons.Probe)
	input.Dry = dry
	return err
}

// basisOf is what a plan rests on and every pass sees: the Cluster, what the addons are rendered from, the control plane, and
// what is rolled. Like the digest of a plan it has no Machine, no Node and no number of replicas: those change from minute to
// minute.
func basisOf(s *scope) string {
	o, parts := s.Observed, []any{s.Cluster.UID, s.Cluster.Generation, s.profile, s.profileProblem}
	config := o.CloudConfig.Value()
	parts = append(parts, o.Contenders.Value(), config.Ref, config.Version, config.Problem)

	plane := o.ControlPlane.Value()
	parts = append(parts, o.ControlPlane.IsKnown(), basisOfComponent(plane.KCM))
	for _, component := range plane.Others {
		parts = append(parts, basisOfComponent(component))
	}
	parts = append(parts, o.MachineController.IsKnown())
	for _, deployment := range o.MachineController.Value() {
		parts = append(parts, basisOfComponent(deployment.Component))
	}
	parts = append(parts, o.Machines.IsKnown())
	for _, pool := range o.Machines.Value().Deployments {
		parts = append(parts, pool.Ref, pool.Paused, pool.Deleting, pool.RestartValue, pool.LimitProblem, pool.MinReadyOwner)
	}
	// These values can always be encoded.
	encoded, _ := json.Marshal(parts)
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

func basisOfComponent(component observation.Component) []any {
	return []any{component.Ref, component.Container, component.Arguments, component.FieldOwner}
}

// AdoptionPlan is what adopting the objects of someone else would change in a user cluster, for a command: the addons are
// rendered as in a pass, and nothing is written.
func (o *Observer) AdoptionPlan(
	ctx context.Context,
	cluster *ucv1.Cluster,
	session *usercluster.Session,
) ([]addons.ObjectPlan, error) {
	if cluster.Status.Inherited == nil {
		return nil, errors.New("nothing was rendered yet, because what the CCM inherits is recorded at the start; look at condition " +
			"PreflightPassed, or Ready, for what stands against that")
	}
	s := &scope{Pass: status.Pass{Cluster: cluster}, session: session}
	s.Observed.Cluster = cluster
	o.observeManagement(ctx, s)
	if len(s.addons.CCM.Objects) == 0 {
		if s.renderProblem == "" {
			s.renderProblem = "the provider is not in the catalogue"
		}
		return nil, errors.New(s.renderProblem)
	}
	inventory, err := o.management.readInventory(ctx, s)
	if err != nil {
		return nil, err
	}
	return session.Addons.AdoptionPlan(ctx, inventory, s.addons)
}
