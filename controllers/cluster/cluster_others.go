package cluster

import (
	"context"
	"errors"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
)

// observeOtherManagers looks for cloud-controller-managers of the user cluster that are not ours.
func (r *Reconciler) observeOtherManagers(ctx context.Context, s *scope) observation.Observed[[]observation.OtherManager] {
	inventory := s.inventory
	if inventory == nil {
		read, err := r.readInventory(ctx, s.cluster)
		if err != nil {
			return observation.Unknown[[]observation.OtherManager](err.Error())
		}
		inventory = read
	}
	ours := facts.Ours{Inventory: inventory}
	if !s.cluster.CCMBesideControlPlane() {
		// What has the name of one of ours is found when the addons are compared. Beside the control plane ours are not here.
		ours.Workloads = r.Catalogue.ManagerWorkloads(s.cluster.Spec.Cloud.ProviderName)
	}
	for _, id := range []provider.Identity{s.identity, provider.ProbeIdentity(s.identity)} {
		ours.Identities = append(ours.Identities, leases.UserName(id))
	}
	handover := s.cluster.Status.Handover
	return s.session.Others.Look(ctx, r.Catalogue.RecognizeManager, ours, handover == nil || handover.FinishedAt == nil)
}

// AdoptionPlan is what adopting the objects of someone else would change in a user cluster, for a command: the addons are
// rendered as in a pass, and nothing is written.
func (r *Reconciler) AdoptionPlan(ctx context.Context, cluster *ucv1.Cluster, session *usercluster.Session) ([]addons.ObjectPlan, error) {
	if cluster.Status.Inherited == nil {
		return nil, errors.New("nothing was rendered yet, because what the CCM inherits is recorded at the start; " +
			"look at condition PreflightPassed, or Ready, for what stands against that")
	}
	s := &scope{cluster: cluster, session: session}
	s.observed.Cluster = cluster
	r.observeManagement(ctx, s)
	if len(s.addons.CCM.Objects) == 0 {
		if s.renderProblem == "" {
			s.renderProblem = "the provider is not in the catalogue"
		}
		return nil, errors.New(s.renderProblem)
	}
	inventory, err := r.readInventory(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return session.Addons.AdoptionPlan(ctx, inventory, s.addons)
}
