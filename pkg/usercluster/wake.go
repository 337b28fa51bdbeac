package usercluster

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// debounce coalesces the events of a cluster. It is far below the second in which a change has to show.
const debounce = 50 * time.Millisecond

// waker turns any number of wake-ups into few events. Its memory is bounded by the number of clusters, and no one who
// wakes ever waits for a slow reader.
type waker struct {
	clock  clock.Clock
	events chan event.GenericEvent
	nudge  chan struct{}

	mu    sync.Mutex
	dirty map[types.NamespacedName]struct{}
}

func newWaker(clk clock.Clock) *waker {
	return &waker{
		clock:  clk,
		events: make(chan event.GenericEvent),
		nudge:  make(chan struct{}, 1),
		dirty:  map[types.NamespacedName]struct{}{},
	}
}

func (w *waker) wake(key types.NamespacedName) {
	w.mu.Lock()
	w.dirty[key] = struct{}{}
	w.mu.Unlock()
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

func (w *waker) take() map[types.NamespacedName]struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.dirty
	w.dirty = map[types.NamespacedName]struct{}{}
	return taken
}

func (w *waker) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.nudge:
		}
		select {
		case <-ctx.Done():
			return
		case <-w.clock.After(debounce):
		}
		for key := range w.take() {
			cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			select {
			case <-ctx.Done():
				return
			case w.events <- event.GenericEvent{Object: cluster}:
			}
		}
	}
}
