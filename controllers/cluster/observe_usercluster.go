package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/facts"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
)

// userClusterObserver reads what is in the user cluster, compared with what is beside the Cluster.
type userClusterObserver struct {
	management    *managementObserver
	ledger        *controlplane.Ledger
	deadlines     observation.Deadlines
	loadBalancers LoadBalancerReader
}

// observe reads from the user cluster. When it cannot be reached, every fact of it is unknown, and why.
func (u userClusterObserver) observe(ctx context.Context, s *scope) {
	session := s.session
	if session == nil {
		s.unreachable("the user cluster is not reachable: " + s.Observed.Connection.Message)
		return
	}
	session.AwaitWatches(ctx)
	s.observeMachines(ctx)
	s.Observed.Inventory = baseline.WithNodes(session.Facts.Inventory(ctx), s.Observed.Nodes, s.Observed.Machines)
	s.Observed.Gone = session.Facts.Gone(ctx, baseline.MissingOf(s.Observed.Baseline, s.Observed.Inventory))
	s.Observed.Measured = observation.Absent[slo.Seen]()
	if s.needs().Measurements {
		s.Observed.Measured = session.Facts.WithCCM(ctx, session.Facts.Measure(ctx, s.Observed.Nodes, s.Observed.Inventory), s.identity)
	}
	u.observeLeases(ctx, s)
	s.Observed.Fence = session.Leases.Fence(ctx, s.identity)
	s.Observed.KCMLeaseRight = observation.Absent[observation.LeaseRight]()
	if s.needs().KCMLeaseRight {
		s.Observed.KCMLeaseRight = session.Leases.LeaseRight(ctx, s.kcmLease())
	}
	s.Observed.ServerVersion = observation.Absent[string]()
	if s.needs().ServerVersion {
		s.Observed.ServerVersion = session.Facts.ServerVersion(ctx)
	}
	u.observeAddons(ctx, s)
	s.Observed.ForeignCCMs = u.observeOtherManagers(ctx, s)
	if s.needs().StorageClasses {
		s.Observed.StorageClasses = session.Facts.StorageClasses(ctx)
	}
	s.observeRoll(ctx)
	s.observeForRollback(ctx)
	u.observeLoadBalancers(ctx, s)
}

func (s *scope) observeMachines(ctx context.Context) {
	s.Observed.Machines = s.session.Machines.Observe(ctx)
	s.Observed.Nodes = baseline.WithProofs(s.session.Facts.Nodes(ctx), s.Observed.Proofs)
}

// observeLeases looks at who runs the cloud loops.
func (u userClusterObserver) observeLeases(ctx context.Context, s *scope) {
	elections := s.session.Leases
	s.Observed.CCMLease = elections.Lease(ctx, s.identity.LeaseNamespace, s.identity.LeaseName)
	elections.GuardLeader(s.identity.LeaseNamespace, s.identity.LeaseName)
	s.Observed.CCMProcesses = u.observeProcesses(ctx, s)
	namespace, name := s.Observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	s.Observed.KCMLease = elections.Lease(ctx, namespace, name)
	s.Observed.Lock = u.observeLock(ctx, s)
}

// observeRoll looks at what only a roll rests on: the canary, and what Machines wait for that do not go.
func (s *scope) observeRoll(ctx context.Context) {
	if s.needs().Canary {
		s.Observed.Canary = s.session.Canary.Observe(ctx)
	}
	s.Observed.Drains = s.session.Facts.Drains(ctx, rollout.DrainsOf(s.Observed.Machines.Value(), s.Now))
	if s.needs().RegisteredVolumes {
		s.Observed.Registered = s.session.Facts.RegisteredVolumes(ctx)
	}
	s.Observed.Bootstraps = s.session.Machines.Bootstraps(ctx, rollout.BootstrapsOf(s.Observed, s.Now))
	if facts := s.Cluster.Status.Facts; facts.RollGeneration != "" && facts.CompletedAt == nil {
		s.Observed.CCMNode = s.session.Leases.LeaderNode(ctx, s.identity, s.Observed.CCMLease)
	}
}

// observeForRollback looks at what only a rollback rests on.
func (s *scope) observeForRollback(ctx context.Context) {
	if !s.needs().Rollback {
		return
	}
	s.Observed.CCMPods = s.session.Leases.PodsOf(ctx, s.identity, s.addons.CCM.Access)
	s.Observed.Attachments = s.session.Facts.Attachments(ctx)
}

// kcmLease is where KCM has its Lease.
func (s *scope) kcmLease() observation.Ref {
	namespace, name := s.Observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	return observation.Ref{Kind: "Lease", Namespace: namespace, Name: name}
}

// observeProcesses looks at who may hold the CCM's Lease.
func (u userClusterObserver) observeProcesses(ctx context.Context, s *scope) observation.Observed[[]observation.Process] {
	if s.identity == (manifest.Identity{}) {
		return observation.Unknown[[]observation.Process]("the provider is not known")
	}
	return s.session.Leases.Processes(
		ctx,
		s.identity,
		s.addons.CCM.Access,
		s.Observed.CCMLease.Value(),
		u.ledger.Former,
	)
}

func (s *scope) unreachable(why string) {
	s.Observed.Machines = observation.Unknown[observation.Machines](why)
	s.Observed.Nodes = observation.Unknown[[]observation.Node](why)
	s.Observed.Inventory = observation.Unknown[observation.Inventory](why)
	s.Observed.Gone = observation.Unknown[map[string]observation.Gone](why)
	s.Observed.Measured = observation.Unknown[slo.Seen](why)
	s.Observed.CCMLease = observation.Unknown[observation.Lease](why)
	s.Observed.CCMProcesses = observation.Unknown[[]observation.Process](why)
	s.Observed.KCMLease = observation.Unknown[observation.Lease](why)
	s.Observed.KCMLeaseRight = observation.Unknown[observation.LeaseRight](why)
	s.Observed.Fence = observation.Unknown[observation.Fence](why)
	s.Observed.ServerVersion = observation.Unknown[string](why)
	s.Observed.Lock = unseenLock(s.Cluster, why)
	s.Observed.Addons = observation.Unknown[observation.Addons](why)
	s.Observed.Probe = observation.Unknown[observation.Probe](why)
	s.Observed.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM](why)
	s.Observed.StorageClasses = observation.Unknown[[]observation.StorageClass](why)
	s.Observed.Canary = observation.Unknown[observation.CanaryWorkload](why)
	s.Observed.Drains = observation.Unknown[[]observation.Drain](why)
	s.Observed.Bootstraps = observation.Unknown[map[string]observation.BootstrapData](why)
}

func (u userClusterObserver) observeAddons(ctx context.Context, s *scope) {
	if len(s.addons.CCM.Objects) == 0 {
		why := s.renderProblem
		if why == "" {
			why = "the manifests are not rendered yet"
		}
		s.Observed.Addons = observation.Unknown[observation.Addons](why)
		return
	}
	inventory, err := u.management.readInventory(ctx, s)
	if err != nil {
		s.Observed.Addons = observation.Unknown[observation.Addons](err.Error())
		return
	}
	s.inventory = inventory
	s.Observed.Addons = s.session.Addons.Observe(ctx, inventory, s.addons)
	s.Observed.Probe = s.session.Addons.Probe(ctx, inventory, s.addons.Probe, s.identity, s.needs().Probe)
}

// observeLock looks at the migration lock while it concerns the Cluster, in both clusters.
func (u userClusterObserver) observeLock(ctx context.Context, s *scope) observation.Observed[observation.Lock] {
	if !handover.ConcernsLock(s.Cluster) {
		return observation.Absent[observation.Lock]()
	}
	if s.identity == (manifest.Identity{}) {
		return observation.Unknown[observation.Lock]("the provider is not known")
	}
	observed := s.session.Leases.MigrationLock(ctx, s.identity)
	lock, known := observed.Get()
	if !known {
		return observed
	}
	file := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: s.Cluster.Namespace, Name: handover.LockConfigMap(s.Cluster)}
	switch err := u.management.live.Get(ctx, key, file); {
	case err == nil:
		lock.Left = append(
			lock.Left,
			observation.Ref{Kind: "ConfigMap", Namespace: key.Namespace, Name: key.Name, UID: string(file.UID)},
		)
	case !apierrors.IsNotFound(err):
		return observation.Unknown[observation.Lock](err.Error())
	}
	return observation.Known(lock)
}

func unseenLock(cluster *ucv1.Cluster, why string) observation.Observed[observation.Lock] {
	if !handover.ConcernsLock(cluster) {
		return observation.Absent[observation.Lock]()
	}
	return observation.Unknown[observation.Lock](why)
}

// observeOtherManagers looks for cloud-controller-managers of the user cluster that are not ours.
func (u userClusterObserver) observeOtherManagers(ctx context.Context, s *scope) observation.Observed[[]observation.ForeignCCM] {
	inventory := s.inventory
	if inventory == nil {
		read, err := u.management.readInventory(ctx, s)
		if err != nil {
			return observation.Unknown[[]observation.ForeignCCM](err.Error())
		}
		inventory = read
	}
	ours := facts.Ours{Inventory: inventory}
	if !s.Cluster.CCMInControlPlane() {
		// What has the name of one of ours is found when the addons are compared. Beside the control plane ours are not here.
		ours.Workloads = u.management.catalogue.ManagerWorkloads(s.Cluster.Spec.Cloud.ProviderName)
	}
	for _, id := range []manifest.Identity{s.identity, render.ProbeIdentity(s.identity)} {
		ours.Identities = append(ours.Identities, leases.UserName(id))
	}
	handover := s.Cluster.Status.Handover
	return s.session.Others.Look(ctx, u.management.catalogue.RecognizeManager, ours, handover == nil || handover.FinishedAt == nil)
}

// observeFindings asks preflight: everything before the start, and what needs the cloud when the CCM leads, before the first
// Machine is replaced. It comes last, because it rests on what was observed before.
func (u userClusterObserver) observeFindings(ctx context.Context, s *scope, checkpoints ucv1.Facts) {
	if s.session == nil {
		s.Observed.Findings = observation.Unknown[[]observation.Finding]("the user cluster is not reachable: " +
			s.Observed.Connection.Message)
		return
	}
	asked := preflight.Facts{
		Cluster:           s.Cluster,
		Deadlines:         u.deadlines,
		Provider:          s.Observed.Provider,
		CloudConfig:       s.Observed.CloudConfig,
		ControlPlane:      s.Observed.ControlPlane,
		MachineController: s.Observed.MachineController,
		KCMLease:          s.Observed.KCMLease,
		Machines:          s.Observed.Machines,
		Nodes:             s.Observed.Nodes,
	}
	source := observation.Ref{Kind: "Secret", Namespace: s.Cluster.Namespace, Name: s.Cluster.KubeconfigSecret().Name}
	if checkpoints.StartedAt != nil {
		asked.Credentials = s.session.Preflight.Credentials(source)
		s.Credentials = observation.Known(preflight.JudgeCredentials(asked, s.Now))
	}
	asIf := *s.Cluster
	asIf.Status.Facts = checkpoints
	needs := migration.NeedsOf(&asIf, s.Observed.Provider.Value(), s.Now)
	switch {
	case needs.Preflight:
		asked.Read = s.session.Preflight.Read(ctx, facts.Input{
			Registries: s.Observed.Provider.Value().Registries, Identity: s.identity, Generation: s.Cluster.Generation, Source: source,
		})
		s.PreflightAt = asked.At
		s.Observed.Findings = observation.Known(preflight.Judge(asked, s.Now))
	case needs.Cloud:
		s.session.Preflight.Forget()
		asked.Cloud = s.session.Preflight.Cloud(ctx, checkpoints.Handover.FinishedAt.Time)
		s.Observed.Findings = observation.Known(preflight.JudgeCloud(asked, s.Now))
	default:
		s.session.Preflight.Forget()
	}
}
