package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// observe reads both clusters. It never fails: what could not be read is a fact of its own.
func (r *Reconciler) observe(ctx context.Context, s *scope) {
	r.Observer.observeActors(ctx, s)
	r.Observer.observeCluster(ctx, s)
	if !s.cluster.ExternalCloudProvider() {
		r.Observer.observeInTree(ctx, s)
		r.lookAhead(ctx, s)
		return
	}
	r.endLook(client.ObjectKeyFromObject(s.cluster))
	r.connect(s)
	r.Observer.observeManagement(ctx, s)
	r.Observer.observeControlPlane(ctx, s)
	r.Observer.observeUserCluster(ctx, s)
	if now := r.UserClusters.State(client.ObjectKeyFromObject(s.cluster)); now.Reachable && s.session != nil {
		s.observed.Connection = now // The reads may have shown that it answers too much.
	}
	r.Observer.observeMachineController(ctx, s)
	r.Observer.observeFindings(ctx, s, s.cluster.Status.Facts)
	r.observePlan(s)
}

// observePlan reads what the planner has, where a person wants to approve the migration first.
func (r *Reconciler) observePlan(s *scope) {
	switch {
	case !s.needs().Plan:
		r.Planner.forget(client.ObjectKeyFromObject(s.cluster))
		s.observed.Plan = observation.Absent[observation.ForeseenPlan]()
	case s.session == nil:
		s.observed.Plan = observation.Unknown[observation.ForeseenPlan]("the user cluster is not reachable: " +
			s.observed.Connection.Message)
	default:
		s.observed.Plan = r.Planner.observe(s)
	}
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

// observeCluster begins every observation: who else claims the control plane, and what there was before.
func (o *Observer) observeCluster(ctx context.Context, s *scope) {
	s.observed = observation.Observation{Cluster: s.cluster, Deadlines: o.deadlines}
	s.observed.Contenders = o.observeContenders(ctx, s.cluster)
	s.observed.NamespaceTerminating = o.observeNamespace(ctx, s.cluster)
	o.observeRecord(ctx, s)
}

// observeInTree is all that is read of a cluster whose feature is off, between the looks ahead.
func (o *Observer) observeInTree(ctx context.Context, s *scope) {
	s.observed.UnknownProvider = o.catalogue.Unknown(s.cluster.Spec.Cloud.ProviderName)
	s.observed.InTree = controlplane.Template(ctx, o.client, s.cluster)
}

func (o *Observer) observeContenders(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[[]string] {
	names, err := Sharers(o.client)(ctx, cluster)
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

// observeNamespace is for a deleted Cluster: one whose namespace goes, too, is not kept.
func (o *Observer) observeNamespace(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[bool] {
	if cluster.DeletionTimestamp.IsZero() {
		return observation.Absent[bool]()
	}
	namespace := &corev1.Namespace{}
	if err := o.live.Get(ctx, client.ObjectKey{Name: cluster.Namespace}, namespace); err != nil {
		return observation.Unknown[bool](err.Error())
	}
	return observation.Known(!namespace.DeletionTimestamp.IsZero())
}

// observeRecord reads what an earlier Cluster of this name left, and what this one has written.
func (o *Observer) observeRecord(ctx context.Context, s *scope) {
	s.observed.Keeper = o.observeKeeper(ctx, s.cluster)
	key := client.ObjectKey{Namespace: s.cluster.Namespace, Name: migration.RecordName(s.cluster)}
	read := readOwn(ctx, o, s.now, &o.own.of(s.cluster).record, key, kept.MostAge)
	secret, known := read.Get()
	switch {
	case read.IsAbsent():
		s.observed.Record = observation.Absent[observation.Record]()
	case !known:
		s.observed.Record = observation.Unknown[observation.Record](read.Why())
	default:
		record := migration.DecodeRecord(secret.Data)
		record.Ref = observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)}
		record.Version = secret.ResourceVersion
		s.observed.Record = observation.Known(record)
	}
}

// observeKeeper is what makes a control plane the same one: KCM's Deployment, or, for static pods, the kubeconfig Secret that
// leads to them.
func (o *Observer) observeKeeper(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[observation.Ref] {
	if !cluster.Spec.ControlPlane.Static() {
		template := controlplane.Template(ctx, o.client, cluster)
		switch kcm, known := template.Get(); {
		case known:
			return observation.Known(kcm.Ref)
		case template.IsAbsent():
			return observation.Absent[observation.Ref]()
		}
		return observation.Unknown[observation.Ref](template.Why())
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.KubeconfigSecret().Name}
	switch err := o.live.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		return observation.Absent[observation.Ref]()
	case err != nil:
		return observation.Unknown[observation.Ref](err.Error())
	}
	return observation.Known(observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)})
}

// observeControlPlane reads KCM where it runs, and what became of its recorded processes.
func (o *Observer) observeControlPlane(ctx context.Context, s *scope) {
	switch {
	case !s.cluster.Spec.ControlPlane.Static():
		if s.cluster.ExternalCloudProvider() {
			o.controlPlane.Ledger.Track(s.cluster.Namespace)
		}
		plane, beside := o.controlPlane.Look(ctx, s.cluster)
		s.observed.ControlPlane = plane
		if !controlplane.MachineControllerInUserCluster(s.cluster) {
			s.observed.MachineController = beside
		}
	case s.session == nil:
		s.observed.ControlPlane = observation.Unknown[observation.ControlPlane]("the user cluster is not reachable: " +
			s.observed.Connection.Message)
	default:
		s.observed.ControlPlane = o.controlPlane.StaticControlPlane(ctx, s.cluster, s.session.Client())
	}
	controlPlane, known := s.observed.ControlPlane.Get()
	if !known {
		return
	}
	s.observed.Processes = o.controlPlane.Processes(s.cluster, controlPlane)
	if s.cluster.Spec.ControlPlane.Static() {
		for _, component := range append([]observation.Component{controlPlane.KCM}, controlPlane.Others...) {
			for _, process := range component.Pods {
				s.session.WatchPod(types.NamespacedName{Namespace: component.Namespace, Name: process.PodName})
			}
		}
	}
}

func (o *Observer) observeMachineController(ctx context.Context, s *scope) {
	if !s.cluster.Spec.ControlPlane.Static() && !controlplane.MachineControllerInUserCluster(s.cluster) {
		return // It was seen beside the control plane.
	}
	var user client.Reader
	if s.session != nil {
		user = s.session.Client()
	}
	s.observed.MachineController = o.controlPlane.MachineController(ctx, s.cluster, user)
}

// observeAgain reads what was kept, whatever watches showed. Where the user cluster could not be reached, nothing of it is done
// anyway.
func (o *Observer) observeAgain(ctx context.Context, s *scope, what migration.Confirmation) {
	live := kept.LiveSince(ctx, s.now)
	if what.Managers {
		o.observeControlPlane(live, s)
	}
	switch {
	case s.session == nil:
		return
	case what.All:
		o.observeUserCluster(live, s)
		return
	case what.Machines:
		o.observeMachines(live, s)
	}
	if what.Managers {
		o.observeLeases(live, s)
	}
	if what.Fence {
		s.observed.Fence = s.session.Leases.Fence(live, s.identity)
	}
	if what.ForeignCCMs {
		s.observed.ForeignCCMs = o.observeOtherManagers(live, s)
	}
}
