package fleetmigration_test

import (
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/fleetmigration"
)

func unmanaged(t *testing.T, most int, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	for _, name := range names {
		w.g.Expect(w.client.Create(t.Context(), candidate(name))).To(Succeed())
	}
	w.reconciler.Turns.Unmanaged = &fleetmigration.Unmanaged{Most: most}
	return w
}

// starts is what a Cluster does that was let go.
func (w *world) starts(name string) {
	w.t.Helper()
	c := w.get(name)
	startedAt(w.clock.Now())(c)
	w.g.Expect(w.client.Status().Update(w.t.Context(), c)).To(Succeed())
}

// ask for each, and return those that may start.
func (w *world) ask(names ...string) (may []string) {
	w.t.Helper()
	for _, name := range names {
		if w.turn(name) == "may start" {
			may = append(may, name)
		}
	}
	return may
}

func (w *world) settle(names ...string) {
	w.t.Helper()
	w.g.Expect(w.ask(names...)).To(BeEmpty())
	w.clock.Step(10 * time.Second)
}

func TestAClusterWithoutFleetMigrationWaitsForOne(t *testing.T) {
	w := unmanaged(t, 1, "a")
	turn := w.reconciler.Turns.Turn(t.Context(), w.get("a"), w.clock.Now()).Value()
	w.g.Expect(turn).To(And(HaveField("Reason", ucv1.SettlingReason), HaveField("Settling", true), HaveField("After", 10*time.Second)))
	w.clock.Step(9 * time.Second)
	w.g.Expect(w.turn("a")).To(ContainSubstring("Settling"))
	w.clock.Step(time.Second)
	w.g.Expect(w.turn("a")).To(Equal("may start"))
}

func TestFewStartWithinAnHour(t *testing.T) {
	w := unmanaged(t, 2, "a", "b", "c", "d")
	w.settle("a", "b", "c", "d")
	w.g.Expect(w.ask("a", "b", "c", "d")).To(Equal([]string{"a", "b"}))
	w.starts("a")
	w.clock.Step(30 * time.Minute)
	w.g.Expect(w.ask("b", "c", "d")).To(Equal([]string{"b"}), "what was let go stays so")
	turn := w.reconciler.Turns.Turn(t.Context(), w.get("c"), w.clock.Now()).Value()
	w.g.Expect(turn).To(And(HaveField("Reason", ucv1.UnmanagedStartsReason), HaveField("After", 30*time.Minute)))
	w.starts("b")
	w.clock.Step(30 * time.Minute)
	w.g.Expect(w.ask("c", "d")).To(Equal([]string{"c"}), "b started half an hour ago")
	w.clock.Step(30 * time.Minute)
	w.g.Expect(w.ask("d")).To(Equal([]string{"d"}))
}

// What keeps those that were let go from starting ends for all at once. They must not start all at once.
func TestThoseThatCouldNotStartCountOnceTheyCan(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	w := unmanaged(t, 2, names...)
	w.settle(names...)
	for range 10 * 60 {
		w.g.Expect(len(w.ask(names...))).To(BeNumerically("<=", 2))
		w.clock.Step(time.Minute)
	}
	began, started := w.clock.Now(), 0
	for w.clock.Now().Sub(began) < time.Hour {
		for _, name := range names {
			if w.get(name).Status.StartedAt == nil && w.turn(name) == "may start" {
				w.starts(name)
				started++
			}
		}
		w.clock.Step(time.Minute)
	}
	w.g.Expect(started).To(BeNumerically("<=", 2))
	for range 60 * 6 {
		for _, name := range names {
			if w.get(name).Status.StartedAt == nil && w.turn(name) == "may start" {
				w.starts(name)
				started++
			}
		}
		w.clock.Step(time.Minute)
	}
	w.g.Expect(started).To(Equal(6), "and none waits for ever")
}

// Those that cannot start keep no other waiting for ever.
func TestThoseThatCannotStartLetOthersGo(t *testing.T) {
	w := unmanaged(t, 1, "a", "b")
	w.settle("a", "b")
	may, rng := map[string]bool{}, rand.New(rand.NewPCG(1, 2))
	for range 24 * 60 {
		names := []string{"a", "b"}
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range w.ask(names...) {
			may[name] = true
		}
		w.clock.Step(time.Minute)
	}
	w.g.Expect(may).To(HaveLen(2))
}

func TestAManagerThatStartsCountsWhatHasStarted(t *testing.T) {
	w := unmanaged(t, 2, "a", "b", "c", "d", "e")
	w.settle("a", "b", "c")
	w.g.Expect(w.ask("a", "b", "c")).To(Equal([]string{"a", "b"}))
	w.starts("a")
	w.clock.Step(time.Minute)
	for name, change := range map[string]func(*ucv1.Cluster){"d": claimed("Admitted"), "e": claimed("Queued")} {
		c := w.get(name)
		change(c)
		startedAt(w.clock.Now().Add(-2 * time.Hour))(c)
		if name == "d" {
			startedAt(w.clock.Now())(c)
		}
		w.g.Expect(w.client.Status().Update(t.Context(), c)).To(Succeed())
	}
	w.reconciler.Turns.Unmanaged = &fleetmigration.Unmanaged{Most: 2}
	w.settle("b", "c")
	w.g.Expect(w.ask("b", "c")).To(Equal([]string{"b"}), "a started, d was admitted, and e started two hours ago")
}

func TestWithoutAnyUnmanagedStarts(t *testing.T) {
	w := unmanaged(t, 0, "a")
	w.settle("a")
	turn := w.reconciler.Turns.Turn(t.Context(), w.get("a"), w.clock.Now()).Value()
	w.g.Expect(turn).To(And(HaveField("Reason", ucv1.UnmanagedStartsReason), HaveField("After", BeZero())), "time does not end it")
}

func TestAClockThatGoesBack(t *testing.T) {
	w := unmanaged(t, 1, "a", "b")
	w.settle("a")
	w.g.Expect(w.ask("a")).To(HaveLen(1))
	w.starts("a")
	w.turn("b")
	w.clock.SetTime(w.clock.Now().Add(-3 * time.Hour))
	w.settle("b")
	w.g.Expect(w.turn("b")).To(ContainSubstring("UnmanagedStarts"), "it settles in ten seconds, and a counts")
}
