package handover

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	kcmName   = "kube-controller-manager"
	ccmName   = "cloud-controller-manager"
	fenceRole = "ccm-migration:" + ccmName + "-lease"
	// probeLease is that of the CCM that leads once before KCM is touched.
	probeLease = ccmName + "-probe"
)

// witness watches one user cluster and its Cluster object, writes down what it saw, and wakes those who wait for it.
type witness struct {
	stop     context.CancelFunc
	events   *writer
	clusters *writer

	mu      sync.Mutex
	seen    []ucv1.ClusterStatus
	holders map[string]string
	open    bool
	changed chan struct{}
}

func newWitness(ctx context.Context, b *bed.Bed, u *bed.UserCluster, dir string) (*witness, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &witness{stop: stop, holders: map[string]string{}, changed: make(chan struct{})}
	err := w.start(ctx, b, u, dir)
	if err != nil {
		stop()
	}
	return w, err
}

func (w *witness) start(ctx context.Context, b *bed.Bed, u *bed.UserCluster, dir string) error {
	var err error
	if w.events, err = newWriter(filepath.Join(dir, eventsFile)); err != nil {
		return err
	}
	if w.clusters, err = newWriter(filepath.Join(dir, clusterFile)); err != nil {
		return err
	}
	options := cache.Options{Scheme: b.Client.Scheme(), DefaultNamespaces: map[string]cache.Config{u.Namespace: {}}}
	err = watch(ctx, b.Management.AdminConfig(), options, map[client.Object]func(any, bool){&ucv1.Cluster{}: w.cluster})
	if err != nil {
		return err
	}
	options.DefaultNamespaces = map[string]cache.Config{metav1.NamespaceSystem: {}}
	return watch(ctx, u.AdminConfig(), options, map[client.Object]func(any, bool){
		&corev1.Node{}: w.node, &coordinationv1.Lease{}: w.lease, &rbacv1.Role{}: w.role,
	})
}

func watch(
	ctx context.Context,
	config *rest.Config,
	options cache.Options,
	handlers map[client.Object]func(object any, gone bool),
) error {
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
			DeleteFunc: func(object any) {
				if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
					object = tombstone.Obj
				}
				handle(object, true)
			},
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

// close ends the watches; it says whether records were lost.
func (w *witness) close() error {
	w.stop()
	if err := w.events.close(); err != nil {
		return err
	}
	return w.clusters.close()
}

func (w *witness) note(event, name string) {
	w.events.write(Event{Time: time.Now(), Event: event, Name: name})
}

// wake is called with the lock held.
func (w *witness) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *witness) cluster(object any, gone bool) {
	cluster, ok := object.(*ucv1.Cluster)
	if !ok || gone {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clusters.write(Seen{Time: time.Now(), Status: cluster.Status})
	w.seen = append(w.seen, cluster.Status)
	w.wake()
}

func (w *witness) node(object any, gone bool) {
	if node, ok := object.(*corev1.Node); ok && gone {
		w.note(NodeGone, node.Name)
	}
}

func (w *witness) lease(object any, gone bool) {
	lease, ok := object.(*coordinationv1.Lease)
	if !ok {
		return
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if gone {
		holder = ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holders[lease.Name] != holder {
		w.holders[lease.Name] = holder
		w.note(LeaseHolder, lease.Name+" "+holder)
		w.wake()
	}
}

func (w *witness) role(object any, gone bool) {
	role, ok := object.(*rbacv1.Role)
	if !ok || role.Name != fenceRole {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == !gone {
		return
	}
	w.open = !gone
	event := FenceClosed
	if w.open {
		event = FenceOpened
	}
	w.note(event, role.Name)
	w.wake()
}

// until waits until it holds.
func (w *witness) until(ctx context.Context, what string, patience time.Duration, holds func(*witness) bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		w.mu.Lock()
		done, changed := holds(w), w.changed
		w.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

// untilAny waits until any version of the Cluster held, be it one of the past: a line of the table may be current for a
// moment only.
func (w *witness) untilAny(ctx context.Context, what string, patience time.Duration, holds func(*ucv1.ClusterStatus) bool) error {
	return w.until(ctx, what, patience, func(w *witness) bool {
		return slices.ContainsFunc(w.seen, func(status ucv1.ClusterStatus) bool { return holds(&status) })
	})
}

// forget all versions but the newest: a migration that begins again passes the same lines.
func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = slices.Clone(w.seen[max(len(w.seen)-1, 0):])
}

// latest is the newest version of the Cluster's status.
func (w *witness) latest() ucv1.ClusterStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) == 0 {
		return ucv1.ClusterStatus{}
	}
	return w.seen[len(w.seen)-1]
}
