package demo

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// Witness watches one user cluster and its Cluster object with its own eyes.
type Witness struct {
	screen *Screen
	name   string

	mu            sync.Mutex
	created       map[string]time.Time // by the UIDs of Machines, as the following
	gone          map[string]bool
	made          map[string]string // the forceRestart value that it was made for
	replacedTwice int
	canaries      int
	generation    string
	lastEvent     time.Time
	neededAt      time.Time
	completedAt   time.Time
	nodes         map[string]string
	firstNode     time.Time
	terms         []loops.Term
	shown         string
}

func newWitness(name string, screen *Screen) *Witness {
	return &Witness{
		screen: screen, name: name, created: map[string]time.Time{}, gone: map[string]bool{}, made: map[string]string{},
		nodes: map[string]string{},
	}
}

// Watch starts a witness; it returns when the caches are filled.
func Watch(ctx context.Context, b *bed.Bed, u *bed.UserCluster, screen *Screen) (*Witness, error) {
	w := newWitness(u.Options.Name, screen)
	scheme := b.Client.Scheme()
	err := watchObjects(ctx, b.Management.AdminConfig(), scheme, u.Namespace, map[client.Object]func(object any, gone bool){
		&ucv1.Cluster{}: w.cluster,
	})
	if err != nil {
		return nil, err
	}
	err = watchObjects(ctx, u.AdminConfig(), scheme, metav1.NamespaceSystem, map[client.Object]func(object any, gone bool){
		&coordinationv1.Lease{}: w.lease,
	})
	if err != nil {
		return nil, err
	}
	return w, watchObjects(ctx, u.AdminConfig(), scheme, "", map[client.Object]func(object any, gone bool){
		&machines.Machine{}: w.machine, &machines.MachineDeployment{}: w.other, &corev1.Node{}: w.node, &storagev1.CSINode{}: w.other,
	})
}

func watchObjects(
	ctx context.Context,
	config *rest.Config,
	scheme *runtime.Scheme,
	namespace string,
	handlers map[client.Object]func(any, bool),
) error {
	options := cache.Options{Scheme: scheme}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	objects, err := cache.New(config, options)
	if err != nil {
		return err
	}
	for object, handle := range handlers {
		informer, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { handle(object, false) },
			UpdateFunc: func(_, object any) { handle(object, false) },
			DeleteFunc: func(object any) { handle(object, true) },
		}); err != nil {
			return err
		}
	}
	go func() { _ = objects.Start(ctx) }()
	if !objects.WaitForCacheSync(ctx) {
		return fmt.Errorf("watching %s: %w", config.Host, context.Cause(ctx))
	}
	return nil
}

// cluster prints what changed, and notes when the condition became True.
func (w *Witness) cluster(object any, _ bool) {
	cluster, ok := object.(*ucv1.Cluster)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if value := cluster.Status.RollGeneration; value != "" {
		w.generation = value
	}
	if w.completedAt.IsZero() && meta.IsStatusConditionTrue(cluster.Status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition) {
		w.completedAt, w.neededAt = time.Now(), w.lastEvent
	}
	if line := describe(cluster); line != w.shown {
		w.shown = line
		w.screen.Say(fmt.Sprintf("%-6s %s", w.name, line))
	}
}

func describe(cluster *ucv1.Cluster) string {
	line := string(cluster.Status.Step)
	if cluster.Status.Machines != nil {
		line += " " + cluster.Status.Machines.Summary
	}
	ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
	if ready == nil {
		return line
	}
	if meta.IsStatusConditionTrue(cluster.Status.Conditions, ucv1.StalledCondition) {
		line += " STALLED"
	}
	return line + "  " + ready.Message
}

// machine follows Machines from before the roll, and those that the roll made. The canary's is neither.
func (w *Witness) machine(object any, gone bool) {
	machine, ok := object.(*machines.Machine)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEvent = time.Now()
	if machine.Labels[ucv1.CanaryLabel] != "" {
		if gone {
			w.canaries++
		}
		return
	}
	uid, restart := string(machine.UID), machine.Annotations[ucv1.ForceRestartAnnotation]
	w.created[uid] = machine.CreationTimestamp.Time
	switch {
	case !gone && restart != "":
		w.made[uid] = restart
	case gone && w.made[uid] != "" && w.made[uid] == w.generation:
		w.replacedTwice++
	}
	w.gone[uid] = w.gone[uid] || gone
}

// node counts only what proves a Node; heartbeats do not.
func (w *Witness) node(object any, gone bool) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return
	}
	proof := fmt.Sprintf("%t %t %s", isReady(node), isInitialized(node), node.Spec.ProviderID)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.firstNode.IsZero() && !gone {
		w.firstNode = time.Now()
	}
	if w.nodes[node.Name] != proof {
		w.nodes[node.Name], w.lastEvent = proof, time.Now()
	}
}

func (w *Witness) other(any, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEvent = time.Now()
}

// CompletionDelay is from the last event that the condition needed to the condition.
func (w *Witness) CompletionDelay() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.completedAt.Sub(w.neededAt)
}

// lease keeps each term of the managers.
func (w *Witness) lease(object any, gone bool) {
	lease, ok := object.(*coordinationv1.Lease)
	if !ok || gone || !slices.Contains(components(), lease.Name) || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		return
	}
	term := loops.Term{
		Cluster: w.name, Lease: lease.Name, UID: string(lease.UID), Holder: *lease.Spec.HolderIdentity,
		Transitions: ptr.Deref(lease.Spec.LeaseTransitions, 0), AcquiredAt: ptr.Deref(lease.Spec.AcquireTime, metav1.MicroTime{}).Time,
		DurationSeconds: ptr.Deref(lease.Spec.LeaseDurationSeconds, 0),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	known := slices.ContainsFunc(w.terms, func(t loops.Term) bool {
		return t.Lease == term.Lease && t.UID == term.UID && t.Holder == term.Holder && t.Transitions == term.Transitions
	})
	if !known {
		w.terms = append(w.terms, term)
	}
}

// Terms are those of KCM and of the CCM since the witness began.
func (w *Witness) Terms() []loops.Term {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.terms)
}

// FirstNode is when the witness saw one; zero when it did not.
func (w *Witness) FirstNode() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.firstNode
}

// Machines counts what became of the Machines that were made before the feature was switched on.
func (w *Witness) Machines(flipped time.Time) MachinesReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	report := MachinesReport{ReplacedTwice: w.replacedTwice, Canaries: w.canaries}
	for uid, created := range w.created {
		if created.After(flipped) {
			continue
		}
		report.Before++
		if w.gone[uid] {
			report.Replaced++
		}
	}
	return report
}
