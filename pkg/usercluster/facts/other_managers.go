package facts

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/ownership"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/managers"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

const (
	// lookInterval is how long a look that found no other manager holds, give or take half.
	lookInterval = 10 * time.Minute
	// freshInterval is how long a look that found no other manager holds while the loops are not handed over: workloads are
	// watched, pods that no one answers for are not.
	freshInterval = 20 * time.Second
)

// Recognize says whether pods like this are a cloud-controller-manager.
type Recognize func(labels map[string]string, pod *corev1.PodSpec) (managers.Manager, bool)

// Ours tells what is ours from what is not.
type Ours struct {
	// Inventory of what we applied.
	Inventory []addons.InventoryEntry
	// Workloads that our CCM and its probe may have.
	Workloads []observation.Ref
	// Identities are the user names that they run as.
	Identities []string
}

func (o Ours) has(ref observation.Ref) bool {
	return slices.ContainsFunc(o.Inventory, func(entry addons.InventoryEntry) bool { return entry.Ref() == ref })
}

func (o Ours) names(ref observation.Ref) bool {
	ref.UID = ""
	return slices.Contains(o.Workloads, ref)
}

// otherMemory keeps a look that found no one, and which pods that no workload answers for are no one's.
type otherMemory struct {
	mu      sync.Mutex
	change  int
	found   []observation.ForeignCCM
	looked  time.Time
	expires time.Time
	ours    Ours
	none    map[client.ObjectKey]podVersion
}

// invalidate forgets the look, and one that is being taken: it may have looked before the change.
func (m *otherMemory) invalidate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change++
	m.expires = time.Time{}
}

// changed forgets it but for a workload that the look left out as one of ours.
func (m *otherMemory) changed(object metav1.Object) {
	m.mu.Lock()
	ours := object != nil && slices.ContainsFunc(m.ours.Inventory, func(entry addons.InventoryEntry) bool {
		return manifest.IsWorkload(entry.Kind) && !entry.BesideControlPlane &&
			entry.Namespace == object.GetNamespace() && entry.Name == object.GetName()
	})
	m.mu.Unlock()
	if !ours {
		m.invalidate()
	}
}

func (m *otherMemory) recall(
	ctx context.Context,
	now time.Time,
	fresh bool,
) (found []observation.ForeignCCM, known bool, change int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known = now.Before(m.expires) && (!fresh || now.Sub(m.looked) < freshInterval) && kept.IsFresh(ctx, m.looked)
	return m.found, known, m.change
}

func (m *otherMemory) keep(found []observation.ForeignCCM, ours Ours, now time.Time, change int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.change == change {
		m.found, m.ours, m.looked, m.expires = found, ours, now, now.Add(wait.Jitter(lookInterval/2, 2))
	}
}

// Look looks for cloud-controller-managers that are not ours, in all namespaces: workloads, and pods that none of them
// answers for. What was found is looked at again in every pass, because someone is about to stop it; that there is none holds
// until a workload changes, or for a while; fresh makes that short.
func (o *Others) Look(
	ctx context.Context,
	recognize Recognize,
	ours Ours,
	fresh bool,
) observation.Observed[[]observation.ForeignCCM] {
	now := o.clock.Now()
	found, known, change := o.memory.recall(ctx, now, fresh)
	if known {
		return observation.Known(slices.Clone(found))
	}
	look := &look{client: o.client, recognize: recognize, ours: ours, answered: map[observation.Ref]bool{}, memory: &o.memory}
	for _, list := range []func(context.Context) error{look.deployments, look.daemonSets, look.statefulSets, look.pods} {
		if err := list(ctx); err != nil {
			return observation.Unknown[[]observation.ForeignCCM](err.Error())
		}
	}
	if !slices.ContainsFunc(look.found, func(m observation.ForeignCCM) bool { return !m.Idle }) {
		o.memory.keep(look.found, ours, now, change)
	}
	return observation.Known(slices.Clone(look.found))
}

// Watch looks again when a workload was made, deleted or changed in more than its status. It does not wake for a
// status: every workload of the user cluster is watched.
func (o *Others) Watch() {
	changed := func(object metav1.Object) { o.memory.changed(object); o.watches.Wake() }
	for _, resource := range []string{"deployments", "daemonsets", "statefulsets"} {
		o.watches.Resource(appsv1.SchemeGroupVersion.WithResource(resource),
			&watches.SpecStore{Changed: changed, Wake: func() {}, AtRest: o.watches.AtRest})
	}
}

// Others looks for cloud-controller-managers that are not ours. It remembers a look that found no one.
type Others struct {
	client  client.Client
	clock   clock.PassiveClock
	watches *watches.Watches
	memory  otherMemory
}

// NewOthers has not looked yet.
func NewOthers(options Options) *Others {
	return &Others{client: options.Client, clock: options.Clock, watches: options.Watches}
}

// look is one search.
type look struct {
	client    client.Client
	recognize Recognize
	ours      Ours
	// answered are the workloads that answer for their pods: those that are no cloud-controller-manager, and those that are
	// found already.
	answered map[observation.Ref]bool
	found    []observation.ForeignCCM
	memory   *otherMemory
}

func (l *look) deployments(ctx context.Context) error {
	items := func(list *appsv1.DeploymentList) []appsv1.Deployment { return list.Items }
	return reads.Each(ctx, l.client, "Deployments", items, func(item *appsv1.Deployment) {
		l.workload(ctx, "Deployment", item, &item.Spec.Template, stopped(item.Spec.Replicas, item.Status.Replicas))
	})
}

func (l *look) statefulSets(ctx context.Context) error {
	items := func(list *appsv1.StatefulSetList) []appsv1.StatefulSet { return list.Items }
	return reads.Each(ctx, l.client, "StatefulSets", items, func(item *appsv1.StatefulSet) {
		l.workload(ctx, "StatefulSet", item, &item.Spec.Template, stopped(item.Spec.Replicas, item.Status.Replicas))
	})
}

func (l *look) daemonSets(ctx context.Context) error {
	items := func(list *appsv1.DaemonSetList) []appsv1.DaemonSet { return list.Items }
	return reads.Each(ctx, l.client, "DaemonSets", items, func(item *appsv1.DaemonSet) {
		counted := item.Status.ObservedGeneration >= item.Generation
		idle := counted && item.Status.DesiredNumberScheduled+item.Status.CurrentNumberScheduled == 0
		l.workload(ctx, "DaemonSet", item, &item.Spec.Template, idle)
	})
}

// stopped says that nothing is wanted and nothing runs. Pods that are ending are not counted there; they are looked at.
func stopped(wanted *int32, running int32) bool { return wanted != nil && *wanted+running == 0 }

func (l *look) workload(ctx context.Context, kind string, object client.Object, template *corev1.PodTemplateSpec, idle bool) {
	ref := observation.Ref{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	if l.ours.has(ref) {
		return
	}
	manager, is := l.recognize(labelsOf(object, template.Labels), &template.Spec)
	l.answered[reads.Keep(ctx, ref)] = !is || !idle
	if is {
		l.add(ctx, ref, object, manager, &template.Spec, idle)
	}
}

func (l *look) add(
	ctx context.Context,
	ref observation.Ref,
	object client.Object,
	manager managers.Manager,
	pod *corev1.PodSpec,
	idle bool,
) {
	found := observation.ForeignCCM{
		Ref:       ref,
		Owner:     ownership.Hints(object),
		KnownBy:   manager.KnownBy,
		Identity:  identityOf(ref.Namespace, pod),
		NodesOnly: manager.NodesOnly,
		Arguments: controlplane.ParseArguments(manager.Container),
		Idle:      idle,
		SameName:  l.ours.names(ref),
	}
	found.UID = string(object.GetUID())
	l.found = append(l.found, reads.Keep(ctx, found))
}

// labelsOf a workload and of its pods; the pods' count first.
func labelsOf(object client.Object, pods map[string]string) map[string]string {
	labels := map[string]string{}
	for _, of := range []map[string]string{object.GetLabels(), pods} {
		maps.Copy(labels, of)
	}
	return labels
}

func identityOf(namespace string, pod *corev1.PodSpec) string {
	account := pod.ServiceAccountName
	if account == "" {
		account = "default"
	}
	return leases.UserName(manifest.Identity{ServiceAccountNamespace: namespace, ServiceAccountName: account})
}

// workloadOf is the workload that makes such pods; the zero value for one that is made by hand, or by a kubelet. A Deployment
// has its pods made by a ReplicaSet, whose name and label tell which one it is
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/controller/deployment/sync.go#L196).
func workloadOf(pod metav1.Object) observation.Ref {
	controller := metav1.GetControllerOf(pod)
	if controller == nil {
		return observation.Ref{}
	}
	ref := observation.Ref{Kind: controller.Kind, Namespace: pod.GetNamespace(), Name: controller.Name}
	if hash := pod.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" && ref.Kind == "ReplicaSet" {
		ref.Kind, ref.Name = "Deployment", strings.TrimSuffix(ref.Name, "-"+hash)
	}
	return ref
}
