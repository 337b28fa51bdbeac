package simtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// TestAPlanOfAnyStateIsWhatHappens looks at random worlds in the middle of their runs, plans from there, and lets them go on
// without faults and people. Replay a seed with go test ./pkg/simulation/simtest -run TestAPlanOfAnyStateIsWhatHappens -v -args
// -seed N.
func TestAPlanOfAnyStateIsWhatHappens(t *testing.T) {
	t.Parallel()
	first, end := 0, *seedsFlag/10
	if testing.Short() {
		end /= 5
	}
	if *seedFlag >= 0 {
		first, end = *seedFlag, *seedFlag+1
	}
	for seed := first; seed < end; seed++ {
		if err := planAndRun(t, uint64(seed)); err != nil {
			t.Errorf("replay with -args -seed %d: %v", seed, err)
		}
	}
}

func planAndRun(t *testing.T, seed uint64) error {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 6))
	scenario := randomScenario(seed)
	if rng.IntN(2) == 0 {
		scenario.Faults = Faults{}
	}
	scenario.InTreeProfiles = nil // No one can tell before the data is written, and the person who fixes it is not there.
	if scenario.APIServers > 0 {
		scenario.Owner, scenario.WaitsFor = simulation.Away, ucv1.UpgradeRequiredReason // A plan upgrades nothing.
	}
	w := NewWorld(rand.New(rand.NewPCG(seed, 1)), scenario)
	at, what := 5+rng.IntN(400), rng.IntN(8)
	if err := w.play(at, what == 0); err != nil {
		return err
	}
	w.ask(what)
	w.Say("plan: at step %s", w.last.Step)
	future := simulation.Foresee(StartOf(w))
	done, err := w.goOn()
	t.Log(w.transcript)
	if err != nil {
		return err
	}
	if difference := cmp.Diff(sequence(foreseenVerbs(future)), sequence(done)); difference != "" {
		return fmt.Errorf(
			"-planned +done\n%s\nit ends in step %s, wait %+v, failure %+v",
			difference,
			future.Last.Step,
			future.Last.Wait,
			future.Last.Calls(),
		)
	}
	return nil
}

// play until a tick, and until all that passes by itself has passed: before a rollback also a roll, for a while.
func (w *World) play(until int, rollsEnd bool) error {
	for w.Ticks() < until || w.unsettled() || w.controller.pending != nil || rollsEnd && w.Ticks() < until+600 && w.rolls() {
		if err := w.round(); err != nil {
			return err
		}
	}
	return nil
}

// rolls says that the machine-controller is in the middle of something. How far it comes before a rollback restarts it, and it has its
// Lease again, no plan can know.
func (w *World) rolls() bool {
	return slices.ContainsFunc(w.Machines.Deployments, func(d *simulation.MachineDeployment) bool { return busy(w, d) })
}

// ask is what a person asks for before the plan is made.
func (w *World) ask(what int) {
	switch what {
	case 0:
		Rollback(w, true)
	case 1:
		Rollback(w, false)
	case 2:
		DeleteCluster(w)
	case 3:
		Spec(w, func(spec *ucv1.ClusterSpec) { spec.Paused = true })
	}
}

// goOn is the rest of a run without faults and people, but for one who ends a pause, and what the controller does in it.
func (w *World) goOn() (done []outcome.Action, err error) {
	w.Cluster.Spec.Paused = false
	w.scenario.Interventions, w.scenario.Faults, w.scenario.Attentive = nil, Faults{}, false
	w.scenario.KillAt = func(_ int, point KillPoint, d migration.Decision) bool {
		if point == AfterDecide && d.Next() != nil {
			done = append(done, *d.Next())
		}
		return false
	}
	settled := w.Now
	for range 3000 {
		if err := w.round(); err != nil || w.Released || w.Now.Sub(settled) > quiet {
			return done, err
		}
		if !w.atRest() {
			settled = w.Now
		}
	}
	return done, nil
}

// unsettled says that something is wrong which passes by itself: no plan can know that.
func (w *World) unsettled() bool {
	hung := func(p *simulation.Process) bool { return w.Now.Before(p.HungUntil) }
	return w.changing() || w.Machines.Unlinked() || slices.ContainsFunc(
		slices.Concat(w.ControlPlane.Processes, w.CCM.Processes), hung,
	) ||
		slices.ContainsFunc(w.Nodes.All, func(n *simulation.Node) bool { return !n.Ready })
}
