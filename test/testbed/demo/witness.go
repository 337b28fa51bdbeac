package demo

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// Witness watches one user cluster and its Cluster object with its own eyes.
type Witness struct {
	screen *Screen
	name   string

	mu            sync.Mutex
	before        map[string]bool
	replaced      map[string]bool
	made          map[string]string // Machine UID → forceRestart value
	replacedTwice int
	generation    string
	lastEvent     time.Time
	neededAt      time.Time
	completedAt   time.Time
	nodes         map[string]string
	shown         string
}

// Watch starts a witness; it returns when the caches are filled.
func Watch(ctx context.Context, b *bed.Bed, u *bed.UserCluster, screen *Screen) (*Witness, error) {
	w := &Witness{
		screen: screen, name: u.Options.Name, before: map[string]bool{}, replaced: map[string]bool{}, made: map[string]string{},
		nodes: map[string]string{},
	}
	scheme := b.Client.Scheme()
	err := watchObjects(ctx, b.Management.AdminConfig(), scheme, u.Namespace, map[client.Object]func(object any, gone bool){
		&ucv1.Cluster{}: w.cluster,
	})
	if err != nil {
		return nil, err
	}
	return w, watchObjects(ctx, u.AdminConfig(), scheme, "", map[client.Object]func(object any, gone bool){
		&machines.Machine{}: w.machine, &machines.MachineDeployment{}: w.other, &corev1.Node{}: w.node, &storagev1.CSINode{}: w.other,
	})
}

func watchObjects(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, namespace string, handlers map[client.Object]func(any, bool)) error {
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
	return line + "  " + strings.TrimPrefix(ready.Message, "Step "+string(cluster.Status.Step)+": ")
}

// machine follows Machines from before the roll, and those that the roll made.
func (w *Witness) machine(object any, gone bool) {
	machine, ok := object.(*machines.Machine)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEvent = time.Now()
	uid, restart := string(machine.UID), machine.Annotations[ucv1.ForceRestartAnnotation]
	switch {
	case !gone && w.generation == "":
		w.before[uid] = true
	case !gone && restart != "":
		w.made[uid] = restart
	case gone && w.before[uid]:
		w.replaced[uid] = true
	case gone && w.made[uid] == w.generation:
		w.replacedTwice++
	}
}

// node counts only what proves a Node; heartbeats do not.
func (w *Witness) node(object any, _ bool) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return
	}
	proof := fmt.Sprintf("%t %t %s", isReady(node), isInitialized(node), node.Spec.ProviderID)
	w.mu.Lock()
	defer w.mu.Unlock()
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

// Machines counts what became of the Machines.
func (w *Witness) Machines() MachinesReport {
	w.mu.Lock()
	defer w.mu.Unlock()
	return MachinesReport{Before: len(w.before), Replaced: len(w.replaced), ReplacedTwice: w.replacedTwice}
}
