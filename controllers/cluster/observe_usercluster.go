package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
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

// observeUserCluster reads from the user cluster. When it cannot be reached, every fact of it is unknown, and why.
func (o *Observer) observeUserCluster(ctx context.Context, s *scope) {
	session := s.session
	if session == nil {
		s.unreachable("the user cluster is not reachable: " + s.observed.Connection.Message)
		return
	}
	o.observeMachines(ctx, s)
	s.observed.Inventory = baseline.WithNodes(session.Facts.Inventory(ctx), s.observed.Nodes, s.observed.Machines)
	s.observed.Gone = session.Facts.Gone(ctx, baseline.MissingOf(s.observed.Baseline, s.observed.Inventory))
	s.observed.Measured = observation.Absent[slo.Seen]()
	if s.needs().Measurements {
		s.observed.Measured = session.Facts.WithCCM(ctx, session.Facts.Measure(ctx, s.observed.Nodes, s.observed.Inventory), s.identity)
	}
	o.observeLeases(ctx, s)
	s.observed.Fence = session.Leases.Fence(ctx, s.identity)
	s.observed.KCMLeaseRight = observation.Absent[observation.LeaseRight]()
	if s.needs().KCMLeaseRight {
		s.observed.KCMLeaseRight = session.Leases.LeaseRight(ctx, s.kcmLease())
	}
	o.observeAddons(ctx, s)
	s.observed.ForeignCCMs = o.observeOtherManagers(ctx, s)
	if s.needs().StorageClasses {
		s.observed.StorageClasses = session.Facts.StorageClasses(ctx)
	}
	s.observeRoll(ctx)
	s.observeForRollback(ctx)
}

func (o *Observer) observeMachines(ctx context.Context, s *scope) {
	s.observed.Machines = s.session.Machines.Observe(ctx)
	s.observed.Nodes = baseline.WithProofs(s.session.Facts.Nodes(ctx), s.observed.Proofs)
}

// observeLeases looks at who runs the cloud loops.
func (o *Observer) observeLeases(ctx context.Context, s *scope) {
	elections := s.session.Leases
	s.observed.CCMLease = elections.Lease(ctx, s.identity.LeaseNamespace, s.identity.LeaseName)
	elections.GuardLeader(s.identity.LeaseNamespace, s.identity.LeaseName)
	s.observed.CCMProcesses = o.observeProcesses(ctx, s)
	namespace, name := s.observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	s.observed.KCMLease = elections.Lease(ctx, namespace, name)
	s.observed.Lock = o.observeLock(ctx, s)
}

// observeRoll looks at what only a roll rests on: the canary, and what Machines wait for that do not go.
func (s *scope) observeRoll(ctx context.Context) {
	if s.needs().Canary {
		s.observed.Canary = s.session.Canary.Observe(ctx)
	}
	s.observed.Drains = s.session.Facts.Drains(ctx, rollout.DrainsOf(s.observed.Machines.Value(), s.now))
	if s.needs().RegisteredVolumes {
		s.observed.Registered = s.session.Facts.RegisteredVolumes(ctx)
	}
	s.observed.Bootstraps = s.session.Machines.Bootstraps(ctx, rollout.BootstrapsOf(s.observed, s.now))
	if facts := s.cluster.Status.Facts; facts.RollGeneration != "" && facts.CompletedAt == nil {
		s.observed.CCMNode = s.session.Leases.LeaderNode(ctx, s.identity, s.observed.CCMLease)
	}
}

// observeForRollback looks at what only a rollback rests on.
func (s *scope) observeForRollback(ctx context.Context) {
	if !s.needs().Rollback {
		return
	}
	s.observed.CCMPods = s.session.Leases.PodsOf(ctx, s.identity, s.addons.CCM.Access)
	s.observed.Attachments = s.session.Facts.Attachments(ctx)
}

// kcmLease is where KCM has its Lease.
func (s *scope) kcmLease() observation.Ref {
	namespace, name := s.observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	return observation.Ref{Kind: "Lease", Namespace: namespace, Name: name}
}

// observeProcesses looks at who may hold the CCM's Lease.
func (o *Observer) observeProcesses(ctx context.Context, s *scope) observation.Observed[[]observation.Process] {
	if s.identity == (manifest.Identity{}) {
		return observation.Unknown[[]observation.Process]("the provider is not known")
	}
	return s.session.Leases.Processes(
		ctx,
		s.identity,
		s.addons.CCM.Access,
		s.observed.CCMLease.Value(),
		o.controlPlane.Ledger.Former,
	)
}

func (s *scope) unreachable(why string) {
	s.observed.Machines = observation.Unknown[observation.Machines](why)
	s.observed.Nodes = observation.Unknown[[]observation.Node](why)
	s.observed.Inventory = observation.Unknown[observation.Inventory](why)
	s.observed.Gone = observation.Unknown[map[string]observation.Gone](why)
	s.observed.Measured = observation.Unknown[slo.Seen](why)
	s.observed.CCMLease = observation.Unknown[observation.Lease](why)
	s.observed.CCMProcesses = observation.Unknown[[]observation.Process](why)
	s.observed.KCMLease = observation.Unknown[observation.Lease](why)
	s.observed.KCMLeaseRight = observation.Unknown[observation.LeaseRight](why)
	s.observed.Fence = observation.Unknown[observation.Fence](why)
	s.observed.Lock = unseenLock(s.cluster, why)
	s.observed.Addons = observation.Unknown[observation.Addons](why)
	s.observed.Probe = observation.Unknown[observation.Probe](why)
	s.observed.ForeignCCMs = observation.Unknown[[]observation.ForeignCCM](why)
	s.observed.StorageClasses = observation.Unknown[[]observation.StorageClass](why)
	s.observed.Canary = observation.Unknown[observation.CanaryWorkload](why)
	s.observed.Drains = observation.Unknown[[]observation.Drain](why)
	s.observed.Bootstraps = observation.Unknown[map[string]observation.BootstrapData](why)
}

func (o *Observer) observeAddons(ctx context.Context, s *scope) {
	if len(s.addons.CCM.Objects) == 0 {
		why := s.renderProblem
		if why == "" {
			why = "the manifests are not rendered yet"
		}
		s.observed.Addons = observation.Unknown[observation.Addons](why)
		return
	}
	inventory, err := o.readInventory(ctx, s)
	if err != nil {
		s.observed.Addons = observation.Unknown[observation.Addons](err.Error())
		return
	}
	s.inventory = inventory
	s.observed.Addons = s.session.Addons.Observe(ctx, inventory, s.addons)
	s.observed.Probe = s.session.Addons.Probe(ctx, inventory, s.addons.Probe, s.identity, s.needs().Probe)
}

// observeLock looks at the migration lock while it concerns the Cluster, in both clusters.
func (o *Observer) observeLock(ctx context.Context, s *scope) observation.Observed[observation.Lock] {
	if !migration.ConcernsLock(s.cluster) {
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
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: migration.LockConfigMap(s.cluster)}
	switch err := o.live.Get(ctx, key, file); {
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
	if !migration.ConcernsLock(cluster) {
		return observation.Absent[observation.Lock]()
	}
	return observation.Unknown[observation.Lock](why)
}

// observeOtherManagers looks for cloud-controller-managers of the user cluster that are not ours.
func (o *Observer) observeOtherManagers(ctx context.Context, s *scope) observation.Observed[[]observation.ForeignCCM] {
	inventory := s.inventory
	if inventory == nil {
		read, err := o.readInventory(ctx, s)
		if err != nil {
			return observation.Unknown[[]observation.ForeignCCM](err.Error())
		}
		inventory = read
	}
	ours := facts.Ours{Inventory: inventory}
	if !s.cluster.CCMInControlPlane() {
		// What has the name of one of ours is found when the addons are compared. Beside the control plane ours are not here.
		ours.Workloads = o.catalogue.ManagerWorkloads(s.cluster.Spec.Cloud.ProviderName)
	}
	for _, id := range []manifest.Identity{s.identity, render.ProbeIdentity(s.identity)} {
		ours.Identities = append(ours.Identities, leases.UserName(id))
	}
	handover := s.cluster.Status.Handover
	return s.session.Others.Look(ctx, o.catalogue.RecognizeManager, ours, handover == nil || handover.FinishedAt == nil)
}

// observeFindings asks preflight: everything before the start, and what needs the cloud when the CCM leads, before the first
// Machine is replaced. It comes last, because it rests on what was observed before.
func (o *Observer) observeFindings(ctx context.Context, s *scope, checkpoints ucv1.Facts) {
	if s.session == nil {
		s.observed.Findings = observation.Unknown[[]observation.Finding]("the user cluster is not reachable: " +
			s.observed.Connection.Message)
		return
	}
	asked := preflight.Facts{
		Cluster:           s.cluster,
		Deadlines:         o.deadlines,
		Provider:          s.observed.Provider,
		ControlPlane:      s.observed.ControlPlane,
		MachineController: s.observed.MachineController,
		KCMLease:          s.observed.KCMLease,
		Machines:          s.observed.Machines,
		Nodes:             s.observed.Nodes,
	}
	source := observation.Ref{Kind: "Secret", Namespace: s.cluster.Namespace, Name: s.cluster.KubeconfigSecret().Name}
	if checkpoints.StartedAt != nil {
		asked.Credentials = s.session.Preflight.Credentials(source)
		s.credentials = observation.Known(preflight.JudgeCredentials(asked, s.now))
	}
	asIf := *s.cluster
	asIf.Status.Facts = checkpoints
	needs := migration.NeedsOf(&asIf, s.observed.Provider.Value(), s.now)
	switch {
	case needs.Preflight:
		asked.Read = s.session.Preflight.Read(ctx, facts.Input{
			Registries: s.observed.Provider.Value().Registries, Identity: s.identity, Generation: s.cluster.Generation, Source: source,
		})
		s.preflightAt = asked.At
		s.observed.Findings = observation.Known(preflight.Judge(asked, s.now))
	case needs.Cloud:
		s.session.Preflight.Forget()
		asked.Cloud = s.session.Preflight.Cloud(ctx, checkpoints.Handover.FinishedAt.Time)
		s.observed.Findings = observation.Known(preflight.JudgeCloud(asked, s.now))
	default:
		s.session.Preflight.Forget()
	}
}
