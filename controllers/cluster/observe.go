package cluster

import (
	"context"
	"slices"
	"time"

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
	r.Observer.management.observeActors(ctx, s)
	r.Observer.observeCluster(ctx, s, r.turnOf(ctx, s))
	s.Observed.HourlyLooks = r.Turns != nil && r.Turns.Soon(s.Cluster.UID)
	queues := migration.Queues(s.Observed)
	if queues {
		r.UserClusters.Forget(client.ObjectKeyFromObject(s.Cluster))
	}
	if queues || !s.Cluster.ExternalCloudProvider() {
		r.Observer.management.observeInTree(ctx, s)
		r.lookout().observe(ctx, s)
		return
	}
	r.lookout().end(client.ObjectKeyFromObject(s.Cluster))
	r.connect(s)
	r.Observer.observeManagement(ctx, s)
	r.Observer.observeControlPlane(ctx, s)
	r.Observer.userCluster.observe(ctx, s)
	if now := r.UserClusters.State(client.ObjectKeyFromObject(s.Cluster)); now.Reachable && s.session != nil {
		s.Observed.Connection = now // The reads may have shown that it answers too much.
	}
	r.Observer.observeMachineController(ctx, s)
	r.Observer.userCluster.observeFindings(ctx, s, s.Cluster.Status.Facts)
	r.observePlan(s)
}

// turnOf a Cluster that has not started; absent: it may.
func (r *Reconciler) turnOf(ctx context.Context, s *scope) observation.Observed[observation.Turn] {
	if r.Turns == nil || !migration.AwaitsTurn(s.Cluster) {
		return observation.Absent[observation.Turn]()
	}
	return r.Turns.Turn(ctx, s.Cluster, s.Now)
}

// observePlan reads what the planner has, where a person wants to approve the migration first.
func (r *Reconciler) observePlan(s *scope) {
	switch {
	case !s.needs().Plan:
		r.Planner.forget(client.ObjectKeyFromObject(s.Cluster))
		s.Observed.Plan = observation.Absent[observation.ForeseenPlan]()
	case s.session == nil:
		s.Observed.Plan = observation.Unknown[observation.ForeseenPlan]("the user cluster is not reachable: " +
			s.Observed.Connection.Message)
	default:
		s.Observed.Plan = r.Planner.observe(s)
	}
}

// connect finds the session; there is none when the user cluster cannot be reached.
func (r *Reconciler) connect(s *scope) {
	key := client.ObjectKeyFromObject(s.Cluster)
	r.UserClusters.Ensure(s.Cluster)
	s.Observed.Connection = r.UserClusters.State(key)
	if session, connected := r.UserClusters.Session(key); connected && s.Observed.Connection.Reachable {
		s.session = session
	}
}

// observeCluster begins every observation: who else claims the control plane, and what there was before.
func (o *Observer) observeCluster(ctx context.Context, s *scope, turn observation.Observed[observation.Turn]) {
	s.Observed = observation.Observation{Cluster: s.Cluster, Deadlines: o.deadlines, Turn: turn}
	s.Observed.Contenders = o.management.observeContenders(ctx, s.Cluster)
	s.Observed.NamespaceTerminating = o.management.observeNamespace(ctx, s.Cluster)
	o.management.observeRecord(ctx, s)
}

// observeInTree is all that is read of a cluster whose feature is off, between the looks ahead.
func (m *managementObserver) observeInTree(ctx context.Context, s *scope) {
	s.Observed.UnknownProvider = m.catalogue.Unknown(s.Cluster.Spec.Cloud.ProviderName)
	s.Observed.InTree = controlplane.Template(ctx, m.client, s.Cluster)
}

func (m *managementObserver) observeContenders(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[[]string] {
	names, err := Sharers(m.client)(ctx, cluster)
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
func (m *managementObserver) observeNamespace(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[bool] {
	if cluster.DeletionTimestamp.IsZero() {
		return observation.Absent[bool]()
	}
	namespace := &corev1.Namespace{}
	if err := m.live.Get(ctx, client.ObjectKey{Name: cluster.Namespace}, namespace); err != nil {
		return observation.Unknown[bool](err.Error())
	}
	return observation.Known(!namespace.DeletionTimestamp.IsZero())
}

// recordInQueue is how old the record of a Cluster may be that waits for its turn: only we write it, nothing rests on it
// meanwhile, and thousands may wait.
const recordInQueue = 12 * time.Hour

// observeRecord reads what an earlier Cluster of this name left, and what this one has written.
func (m *managementObserver) observeRecord(ctx context.Context, s *scope) {
	s.Observed.Keeper = m.observeKeeper(ctx, s.Cluster)
	key := client.ObjectKey{Namespace: s.Cluster.Namespace, Name: migration.RecordName(s.Cluster)}
	age := kept.MostAge
	if migration.Queues(s.Observed) {
		age = recordInQueue
	}
	read := readOwn(ctx, m, s.Now, &m.own.of(s.Cluster).record, key, age)
	secret, known := read.Get()
	switch {
	case read.IsAbsent():
		s.Observed.Record = observation.Absent[observation.Record]()
	case !known:
		s.Observed.Record = observation.Unknown[observation.Record](read.Why())
	default:
		record := migration.DecodeRecord(secret.Data)
		record.Ref = observation.Ref{Kind: "Secret", Namespace: key.Namespace, Name: key.Name, UID: string(secret.UID)}
		record.Version = secret.ResourceVersion
		s.Observed.Record = observation.Known(record)
	}
}

// observeKeeper is what makes a control plane the same one: KCM's Deployment, or, for static pods, the kubeconfig Secret that
// leads to them.
func (m *managementObserver) observeKeeper(ctx context.Context, cluster *ucv1.Cluster) observation.Observed[observation.Ref] {
	if !cluster.Spec.ControlPlane.Static() {
		template := controlplane.Template(ctx, m.client, cluster)
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
	switch err := m.live.Get(ctx, key, secret); {
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
	case !s.Cluster.Spec.ControlPlane.Static():
		if s.Cluster.ExternalCloudProvider() {
			o.controlPlane.Ledger.Track(s.Cluster.Namespace)
		}
		plane, beside := o.controlPlane.Look(ctx, s.Cluster)
		s.Observed.ControlPlane = plane
		if !controlplane.MachineControllerInUserCluster(s.Cluster) {
			s.Observed.MachineController = beside
		}
	case s.session == nil:
		s.Observed.ControlPlane = observation.Unknown[observation.ControlPlane]("the user cluster is not reachable: " +
			s.Observed.Connection.Message)
	default:
		s.Observed.ControlPlane = o.controlPlane.StaticControlPlane(ctx, s.Cluster, s.session.Client())
	}
	controlPlane, known := s.Observed.ControlPlane.Get()
	if !known {
		return
	}
	s.Observed.Processes = o.controlPlane.Processes(s.Cluster, controlPlane)
	if s.Cluster.Spec.ControlPlane.Static() {
		for _, component := range append([]observation.Component{controlPlane.KCM}, controlPlane.Others...) {
			for _, process := range component.Pods {
				s.session.WatchPod(types.NamespacedName{Namespace: component.Namespace, Name: process.PodName})
			}
		}
	}
}

func (o *Observer) observeMachineController(ctx context.Context, s *scope) {
	if !s.Cluster.Spec.ControlPlane.Static() && !controlplane.MachineControllerInUserCluster(s.Cluster) {
		return // It was seen beside the control plane.
	}
	var user client.Reader
	if s.session != nil {
		user = s.session.Client()
	}
	s.Observed.MachineController = o.controlPlane.MachineController(ctx, s.Cluster, user)
}

// observeAgain reads what was kept, whatever watches showed. Where the user cluster could not be reached, nothing of it is done
// anyway.
func (o *Observer) observeAgain(ctx context.Context, s *scope, what migration.Confirmation) {
	live := kept.LiveSince(ctx, s.Now)
	if what.Managers {
		o.observeControlPlane(live, s)
	}
	switch {
	case s.session == nil:
		return
	case what.All:
		o.userCluster.observe(live, s)
		return
	case what.Machines:
		s.observeMachines(live)
	}
	if what.Managers {
		o.userCluster.observeLeases(live, s)
	}
	if what.Fence {
		s.Observed.Fence = s.session.Leases.Fence(live, s.identity)
	}
	if what.ForeignCCMs {
		s.Observed.ForeignCCMs = o.userCluster.observeOtherManagers(live, s)
	}
}
