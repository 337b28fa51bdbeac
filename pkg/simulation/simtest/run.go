package simtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// quiet is how long nothing may change before a run has ended.
const quiet = 30 * simulation.Tick

// Run lets the scenario's world go on until nothing is left to do or a person is called for, checking the rules after
// every step. The error names the violated rule, or says that the run did not end.
func Run(seed uint64, scenario Scenario) (*Transcript, error) {
	w := NewWorld(rand.New(rand.NewPCG(seed, 1)), scenario)
	most := scenario.MaxTicks
	if most == 0 {
		most = 2000
	}
	settled := w.Now
	for range most {
		if err := w.round(); err != nil {
			w.finish()
			return w.transcript, fmt.Errorf("%s, seed %d, at %s: %w", scenario.Name, seed, w.Elapsed(), err)
		}
		if !w.atRest() {
			settled = w.Now
		}
		if w.Now.Sub(settled) > quiet {
			w.finish()
			return w.transcript, nil
		}
	}
	w.finish()
	return w.transcript, fmt.Errorf("%s, seed %d: rule 1: it did not end in %d ticks: step %s, %s %s",
		scenario.Name, seed, most, w.transcript.Outcome.Step, w.transcript.Outcome.Reason, w.transcript.Outcome.Message)
}

// round is one tick: everybody acts once, in random order.
func (w *World) round() error {
	w.Now = w.Now.Add(simulation.Tick)
	w.intervene()
	w.disturb()
	actors := append(w.Actors(), simulation.Actor{Name: "controller", Step: w.controller.step})
	w.Rng.Shuffle(len(actors), func(i, j int) { actors[i], actors[j] = actors[j], actors[i] })
	for _, actor := range actors {
		actor.Step()
		w.invariants.check(w)
		if w.invariants.err != nil {
			return fmt.Errorf("after %s: %w", actor.Name, w.invariants.err)
		}
	}
	return nil
}

// intervene lets the next intervention happen when its time has come. The feature is flipped first.
func (w *World) intervene() {
	if w.Ticks() == 3 && !w.Cluster.ExternalCloudProvider() {
		w.Flip(!w.scenario.WebhookMisses)
		w.disturbed = w.Now
	}
	if w.scenario.Attentive && Stalled(ucv1.SLOViolatedReason)(w) {
		CountAgain(w)
	}
	if w.scenario.Attentive {
		attend(w)
	}
	if len(w.scenario.Interventions) == 0 {
		return
	}
	next := w.scenario.Interventions[0]
	if w.Ticks() > 3 && (next.When == nil || next.When(w)) {
		w.scenario.Interventions = w.scenario.Interventions[1:]
		w.Say("person: %s", next.Name)
		next.Do(w)
		if next.Lawless {
			w.lawless, w.loopsGivenBack = true, true
		}
		w.disturbed = w.Now
	}
}

// atRest says that no one will change anything any more unless something happens from outside.
func (w *World) atRest() bool {
	if w.Released && len(w.scenario.Interventions) == 0 {
		return true
	}
	if len(w.scenario.Interventions) > 0 || w.Ticks() < 10 || w.changing() || w.Machines.Unlinked() {
		return false
	}
	return w.idle() || (w.last.Wait != nil && w.last.Wait.Reason == w.scenario.WaitsFor && w.Elapsed() > 300*simulation.Tick)
}

// changing says that something goes on that the controller has no part in.
func (w *World) changing() bool {
	away := func(n *simulation.ManagementNode) bool {
		return w.Now.Before(n.DownUntil) && n.DownUntil.Sub(w.Now) < time.Hour
	}
	return w.faulty() || meddled(w) || w.Cloud.Recovering() || w.Machines.Accepting() ||
		slices.ContainsFunc(w.ControlPlane.Hosts, away)
}

// idle says that the controller does nothing and waits for nothing but a person.
func (w *World) idle() bool {
	d := w.last
	return d.Next() == nil && d.Wait == nil &&
		(d.Calls() != nil || d.Step == ucv1.StepFinished || d.Step == ucv1.StepRolledBack || w.Cluster.Spec.Paused)
}

func (w *World) finish() {
	o := Outcome{
		Step: w.last.Step, Facts: w.Cluster.Status.Facts, Passes: w.invariants.passes, Ticks: int(w.Elapsed() / time.Second),
		Replaced: w.invariants.replacing, Created: w.invariants.created, Released: w.Released, Reasons: map[ucv1.Step]string{},
	}
	if w.last.Wait != nil {
		o.Reason, o.Message = w.last.Wait.Reason, w.last.Wait.Message
	}
	if w.last.Calls() != nil {
		o.Reason, o.Message = w.last.Calls().Reason, w.last.Calls().Message
	}
	for _, row := range w.last.Rows {
		o.Reasons[row.Step] = row.Reason
	}
	w.transcript.Outcome = o
}
