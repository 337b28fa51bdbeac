package fleet

import (
	"context"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// seen is what a watch of the FleetMigrations showed.
type seen struct {
	mu sync.Mutex
	// waitedFor is what a Cluster was last named to wait for, by namespace/name.
	waitedFor map[string]string
	halts     []ucv1.FleetHalt
}

func newSeen() *seen { return &seen{waitedFor: map[string]string{}} }

// watch the FleetMigrations, until the context ends. The management cluster's API server stays up, so that one watch suffices as
// long as it lasts; a new one follows it.
func (s *Story) watch(ctx context.Context) error {
	watcher, err := client.NewWithWatch(s.Bed.Management.AdminConfig(), client.Options{Scheme: s.Bed.Client.Scheme()})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		events, err := watcher.Watch(ctx, &ucv1.FleetMigrationList{})
		switch {
		case err == nil:
			s.follow(ctx, events)
		case ctx.Err() == nil:
			return err
		}
	}
	return nil
}

func (s *Story) follow(ctx context.Context, events watch.Interface) {
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-events.ResultChan():
			if !open {
				return
			}
			if fm, is := event.Object.(*ucv1.FleetMigration); is {
				s.seen.note(fm)
			}
		}
	}
}

func (s *seen) note(fm *ucv1.FleetMigration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queued := range fm.Status.Queue {
		for _, name := range queued.Examples {
			s.waitedFor[name] = queued.Reason
		}
	}
	same := func(halt ucv1.FleetHalt) func(ucv1.FleetHalt) bool {
		return func(other ucv1.FleetHalt) bool { return other.At.Equal(&halt.At) && other.Reason == halt.Reason }
	}
	if halt := fm.Status.Halt; halt != nil && !slices.ContainsFunc(s.halts, same(*halt)) {
		s.halts = append(s.halts, *halt)
	}
}

func at(t *metav1.Time) metav1.Time {
	if t == nil {
		return metav1.Time{}
	}
	return *t
}
