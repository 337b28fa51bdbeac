package usercluster

import (
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

const (
	// reaction is in what time a change in a healthy cluster has to begin a pass.
	reaction = 2 * time.Second
	// passes is how many a manager does at once by default.
	passes = 10
)

// TestAHealthyClusterReactsBesideAHostileOne has passes of the hostile cluster follow each other without a pause, as after
// errors, and counts the changes of the healthy one that began a pass too late. It takes no times of passes, which depend on the
// machine.
func TestAHealthyClusterReactsBesideAHostileOne(t *testing.T) {
	const changes = 10
	long := strings.Repeat("a", 1<<10)
	const event = `{"type":"MODIFIED","object":{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",` +
		`"metadata":{"name":"a","resourceVersion":"2"}}}` + "\n"
	begins := `{"apiVersion":"v1","kind":"NodeList","metadata":{"resourceVersion":"1","continue":"x"},"items":[`
	for name, answer := range map[string]http.HandlerFunc{
		"lists without end":      (&floods{to: lists, begin: begins, goOn: `{"metadata":{"name":"` + long + `"}},`}).ServeHTTP,
		"pages without end":      (&floods{to: lists, begin: begins, goOn: `{"metadata":{"name":"` + long + `"}},`, pages: `{}]}`}).ServeHTTP,
		"watches that flood":     (&floods{to: isWatch, goOn: event}).ServeHTTP,
		"answers that never end": hangs,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hostile, healthy := serverOf(t, answer), newAPIServer(t) // They end after the registry.
			r := startRegistry(t, Options{})
			bad := r.put(t, "hostile", kubeconfigFor(hostile, token))
			good := r.put(t, "healthy", healthy.kubeconfig("valid"))
			for _, key := range []types.NamespacedName{bad, good} {
				g.Eventually(r.state(key), patience).Should(beReachable())
				r.SetMigrating(key, true)
			}
			g.Eventually(healthy.watches.Load, patience).Should(BeNumerically(">", 1))
			began := r.pass(t, bad, good)

			late := 0
			for range changes {
				for len(began) > 0 {
					<-began
				}
				healthy.changes <- "/api/v1/nodes"
				changed := clock.RealClock{}.Now()
				g.Eventually(began, patience, time.Millisecond).Should(Receive())
				took := clock.RealClock{}.Since(changed)
				if took > reaction {
					late++
					t.Logf("after %s", took)
				}
			}
			g.Expect(late).To(BeZero(), "of %d changes", changes)
		})
	}
}

// hangs answers that it is ready, and nothing else.
func hangs(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != readyz {
		<-r.Context().Done()
	}
}

// pass begins a pass for every event, as many at a time as a manager does, until the test is over. A pass of the hostile cluster
// reads everything and is followed by another one; those of the healthy one are told.
func (r *running) pass(t *testing.T, hostile, healthy types.NamespacedName) (began chan struct{}) {
	t.Helper()
	began = make(chan struct{}, 1000)
	queue := workqueue.NewTyped[types.NamespacedName]()
	stopped := make(chan struct{})
	t.Cleanup(func() {
		queue.ShutDown()
		for range passes {
			<-stopped
		}
	})
	go func() {
		for key := range r.events {
			queue.Add(key)
		}
	}()
	for range passes {
		go func() {
			defer func() { stopped <- struct{}{} }()
			for key, over := queue.Get(); !over; key, over = queue.Get() {
				session, connected := r.Session(key)
				switch {
				case key == healthy:
					began <- struct{}{}
				case key == hostile && connected:
					everything(t.Context(), session)
					queue.Add(key)
				}
				queue.Done(key)
			}
		}()
	}
	queue.Add(hostile)
	return began
}
