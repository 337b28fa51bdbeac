package cluster

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

// observe reads both clusters. It never fails: what could not be read is a fact of its own.
func (r *Reconciler) observe(ctx context.Context, s *scope) {
	s.observed = observation.Observation{Cluster: s.cluster, Deadlines: r.Deadlines}
	s.observed.Contenders = r.observeContenders(ctx, s.cluster)
	s.observed.NamespaceTerminating = r.observeNamespace(ctx, s.cluster)
	r.observeRecord(ctx, s)
	if !s.cluster.ExternalCloudProvider() {
		s.observed.UnknownProvider = r.Catalogue.Unknown(s.cluster.Spec.Cloud.ProviderName)
		s.observed.InTree = controlplane.Template(ctx, r.Client, s.cluster)
		r.lookAhead(ctx, s)
		return
	}
	r.endLook(client.ObjectKeyFromObject(s.cluster))
	r.connect(s)
	r.observeManagement(ctx, s)
	r.observeControlPlane(ctx, s)
	r.observeUserCluster(ctx, s)
	if now := r.UserClusters.State(client.ObjectKeyFromObject(s.cluster)); now.Reachable && s.session != nil {
		s.observed.Connection = now // The reads may have shown that it answers too much.
	}
	s.observed.MachineController = r.observeMachineController(ctx, s)
	r.observeFindings(ctx, s, s.cluster.Status.Facts)
	r.observePlan(ctx, s)
}

func (r *Reconciler) observeContenders(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[[]string] {
	names, err := Sharers(r.Client)(ctx, cluster)
	switch {
	case err != nil:
		return observation.Unknown[[]string](err.Error())
	case len(names) == 0:
		return observation.Absent[[]string]()
	}
	return observation.Known(names)
}

// Sharers finds the other Clusters that name the control plane of one, as namespace/name, sorted.
func Sharers(reader client.Reader) func(context.Context, *ucv1.Cluster) ([]string, error) {
	return func(ctx context.Context, cluster *ucv1.Cluster) (names []string, err error) {
		clusters := &ucv1.ClusterList{}
		if err := reader.List(ctx, clusters, client.InNamespace(cluster.Namespace)); err != nil {
			return nil, err
		}
		for _, other := range clusters.Items {
			if other.Name != cluster.Name && controlPlaneName(&other) == controlPlaneName(cluster) {
				names = append(names, other.Namespace+"/"+other.Name)
			}
		}
		slices.Sort(names)
		return names, nil
	}
}

// controlPlaneName is the same for Clusters that share a control plane: the Deployment of KCM, or, for static pods, the
// kubeconfig that leads to them.
func controlPlaneName(cluster *ucv1.Cluster) string {
	if cluster.Spec.ControlPlane.Static() {
		secret := cluster.KubeconfigSecret()
		return "Secret " + secret.Name + " " + secret.Key
	}
	return "Deployment " + cluster.KubeControllerManager().Name
}

// observeManagement reads what is in the namespace of the Cluster, and renders the addons from it.
func (r *Reconciler) observeManagement(ctx context.Context, s *scope) {
	r.observeBaseline(ctx, s)

	profile, found := r.Catalogue.Lookup(s.cluster.Spec.Cloud.ProviderName)
	if !found {
		s.observed.UnknownProvider = r.Catalogue.Unknown(s.cluster.Spec.Cloud.ProviderName)
		s.observed.Provider = observation.Absent[observation.Provider]()
		return
	}
	facts, _ := r.Catalogue.Facts(s.cluster.Spec.Cloud.ProviderName, s.cluster.Spec.Version)
	s.observed.Provider = r.observeProfile(ctx, s, facts)
	s.identity = profile.Identity()
	data := r.observeCloudConfig(ctx, s, profile)
	r.render(s, profile, data)
}

// observeCloudConfig keeps the values out of the observation: deciding needs the problem only.
func (r *Reconciler) observeCloudConfig(ctx context.Context, s *scope, profile provider.Profile) map[string][]byte {
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: s.cluster.Spec.Cloud.ConfigSecretRef.Name}
	secret := &corev1.Secret{}
	if err := r.Live.Get(ctx, key, secret); err != nil {
		s.observed.CloudConfig = observation.Unknown[observation.CloudConfig](err.Error())
		if apierrors.IsNotFound(err) {
			s.observed.CloudConfig = observation.Absent[observation.CloudConfig]()
		}
		return nil
	}
	s.observed.CloudConfig = observation.Known(observation.CloudConfig{
		Ref:     observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)},
		Version: secret.ResourceVersion,
		Problem: cmp.Or(credentialOfTheManagementCluster(secret.Type), r.unlabeled(secret),
			provider.CloudConfigProblem(profile, secret.Data, s.cluster.CCMBesideControlPlane())),
	})
	return secret.Data
}

// credentialOfTheManagementCluster is what is wrong with a Secret that Kubernetes itself authenticates callers by. Who may write
// a Cluster can name Secrets that he may not read, and what is named here is carried into a user cluster.
func credentialOfTheManagementCluster(kind corev1.SecretType) string {
	if kind == corev1.SecretTypeServiceAccountToken || kind == corev1.SecretTypeBootstrapToken {
		return "its type is " + string(kind) + ", a credential of the management cluster that is never copied into a user cluster; " +
			"name a Secret with the cloud configuration"
	}
	return ""
}

// unlabeled is what is wrong with a Secret whose writer does not say that it is for a user cluster, where the operator wants
// that.
func (r *Reconciler) unlabeled(secret *corev1.Secret) string {
	if !r.RequireCloudConfigLabel || secret.Type == ucv1.CloudConfigSecretType || secret.Labels[ucv1.CloudConfigLabel] == "true" {
		return ""
	}
	return "it does not say that it is a cloud configuration; who may write it sets label " + ucv1.CloudConfigLabel + ": \"true\""
}

// connect finds the session; there is none when the user cluster cannot be reached.
func (r *Reconciler) connect(s *scope) {
	key := client.ObjectKeyFromObject(s.cluster)
	r.UserClusters.Ensure(s.cluster)
	s.observed.Connection = r.UserClusters.State(key)
	if session, connected := r.UserClusters.Session(key); connected && s.observed.Connection.Reachable {
		s.session = session
	}
}

// observeControlPlane reads KCM where it runs, and what became of its recorded processes.
func (r *Reconciler) observeControlPlane(ctx context.Context, s *scope) {
	switch {
	case !s.cluster.Spec.ControlPlane.Static():
		if s.cluster.ExternalCloudProvider() {
			r.ControlPlane.Ledger.Track(s.cluster.Namespace)
		}
		s.observed.ControlPlane = r.ControlPlane.ControlPlane(ctx, s.cluster)
	case s.session == nil:
		s.observed.ControlPlane = observation.Unknown[observation.ControlPlane]("the user cluster is not reachable: " + s.observed.Connection.Message)
	default:
		s.observed.ControlPlane = r.ControlPlane.StaticControlPlane(ctx, s.cluster, s.session.Client())
	}
	controlPlane, known := s.observed.ControlPlane.Get()
	if !known {
		return
	}
	s.observed.Processes = r.ControlPlane.Processes(s.cluster, controlPlane)
	if s.cluster.Spec.ControlPlane.Static() {
		for _, component := range append([]observation.Component{controlPlane.KCM}, controlPlane.Others...) {
			for _, process := range component.Pods {
				s.session.WatchPod(types.NamespacedName{Namespace: component.Namespace, Name: process.PodName})
			}
		}
	}
}

// observeUserCluster reads from the user cluster. When it cannot be reached, every fact of it is unknown, and why.
func (r *Reconciler) observeUserCluster(ctx context.Context, s *scope) {
	session := s.session
	if session == nil {
		s.unreachable("the user cluster is not reachable: " + s.observed.Connection.Message)
		return
	}
	s.observed.Machines = session.Machines.Observe(ctx)
	s.observed.Nodes = baseline.WithProofs(session.Facts.Nodes(ctx), s.observed.Proofs)
	s.observed.Inventory = baseline.WithNodes(session.Facts.Inventory(ctx), s.observed.Nodes, s.observed.Machines)
	s.observed.Gone = session.Facts.Gone(ctx, baseline.MissingOf(s.observed.Baseline, s.observed.Inventory))
	s.observed.Measured = observation.Absent[slo.Seen]()
	if s.needs().Measurements {
		s.observed.Measured = session.Facts.WithCCM(ctx, session.Facts.Measure(ctx, s.observed.Nodes, s.observed.Inventory), s.identity)
	}
	s.observed.CCMLease = session.Leases.Lease(ctx, s.identity.LeaseNamespace, s.identity.LeaseName)
	session.Leases.GuardLeader(s.identity.LeaseNamespace, s.identity.LeaseName)
	s.observed.CCMProcesses = r.observeProcesses(ctx, s)
	namespace, name := s.observed.ControlPlane.Value().KCM.Arguments.LeaderLease()
	s.observed.KCMLease = session.Leases.Lease(ctx, namespace, name)
	s.observed.KCMLeaseRight = observation.Absent[observation.LeaseRight]()
	if s.needs().KCMLeaseRight {
		s.observed.KCMLeaseRight = session.Leases.LeaseRight(ctx, s.kcmLease())
	}
	s.observed.Fence = session.Leases.Fence(ctx, s.identity)
	s.observed.Lock = r.observeLock(ctx, s)
	r.observeAddons(ctx, s)
	s.observed.OtherManagers = r.observeOtherManagers(ctx, s)
	if s.needs().StorageClasses {
		s.observed.StorageClasses = session.Facts.StorageClasses(ctx)
	}
	s.observeRoll(ctx)
	s.observeForUndo(ctx)
}

// observeRoll looks at what only a roll rests on: the canary, and what Machines wait for that do not go.
func (s *scope) observeRoll(ctx context.Context) {
	if s.needs().Canary {
		s.observed.Canary = s.session.Canary.Observe(ctx)
	}
	s.observed.Drains = s.session.Facts.Drains(ctx, migration.DrainsOf(s.observed.Machines.Value(), s.now))
	if s.needs().RegisteredVolumes {
		s.observed.Registered = s.session.Facts.RegisteredVolumes(ctx)
	}
	s.observed.Bootstraps = s.session.Machines.Bootstraps(ctx, migration.BootstrapsOf(s.observed, s.now))
	if facts := s.cluster.Status.Facts; facts.RollGeneration != "" && facts.CompletedAt == nil {
		s.observed.CCMNode = s.session.Leases.LeaderNode(ctx, s.identity, s.observed.CCMLease)
	}
}

// observeForUndo looks at what only an undo rests on.
func (s *scope) observeForUndo(ctx context.Context) {
	if !s.needs().Undo {
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
func (r *Reconciler) observeProcesses(ctx context.Context, s *scope) observation.Observed[[]observation.Process] {
	if s.identity == (provider.Identity{}) {
		return observation.Unknown[[]observation.Process]("the provider is not known")
	}
	var beside *controlplane.Former
	if r.ControlPlane.Ledger != nil {
		beside = r.ControlPlane.Ledger.Former
	}
	return s.session.Leases.Processes(ctx, s.identity, s.addons.CCM.Access, s.observed.CCMLease.Value(), beside)
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
	s.observed.OtherManagers = observation.Unknown[[]observation.OtherManager](why)
	s.observed.StorageClasses = observation.Unknown[[]observation.StorageClass](why)
	s.observed.Canary = observation.Unknown[observation.CanaryWorkload](why)
	s.observed.Drains = observation.Unknown[[]observation.Drain](why)
	s.observed.Bootstraps = observation.Unknown[map[string]observation.BootstrapData](why)
}

func (r *Reconciler) observeAddons(ctx context.Context, s *scope) {
	if len(s.addons.CCM.Objects) == 0 {
		why := s.renderProblem
		if why == "" {
			why = "the manifests are not rendered yet"
		}
		s.observed.Addons = observation.Unknown[observation.Addons](why)
		return
	}
	inventory, err := r.readInventory(ctx, s.cluster)
	if err != nil {
		s.observed.Addons = observation.Unknown[observation.Addons](err.Error())
		return
	}
	s.inventory = inventory
	s.observed.Addons = s.session.Addons.Observe(ctx, inventory, s.addons)
	s.observed.Probe = s.session.Addons.Probe(ctx, inventory, s.addons.Probe, s.identity, s.needs().Probe)
}

func (r *Reconciler) observeMachineController(ctx context.Context, s *scope) observation.Observed[[]observation.MachineControllerDeployment] {
	var user client.Reader
	if s.session != nil {
		user = s.session.Client()
	}
	return r.ControlPlane.MachineController(ctx, s.cluster, user)
}

func (r *Reconciler) readInventory(ctx context.Context, cluster *ucv1.Cluster) ([]addons.InventoryEntry, error) {
	configMap := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: inventoryName(cluster)}, configMap)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return addons.DecodeInventory([]byte(configMap.Data[inventoryKey]))
}
