package simtest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// settling is how long after a disturbance the current step may lie before one that was reached already.
const settling = 90 * simulation.Tick

// invariants are the safety rules of the table, checked on the world's truth. The first violation ends the run.
type invariants struct {
	err        error
	passes     int
	furthest   int
	created    int
	renamed    int
	replacing  int
	restarts   map[string]int
	values     map[string]bool
	rolledBack bool
	lastLed    time.Time
	// unlinked is when a Machine last had a Node that the machine-controller had not found.
	unlinked time.Time
	// lastAttended is when a manager last ran a cloud loop.
	lastAttended time.Time
	// lastServed is when one did that was not a CCM that has not renewed its Lease yet: a CCM that crashes at every start acquires
	// it, too.
	lastServed time.Time
	// lastInitializing is when a CCM with the loop cloud-node last led.
	lastInitializing time.Time
	previous         migration.Decision
}

func newInvariants() *invariants {
	return &invariants{restarts: map[string]int{}, values: map[string]bool{}}
}

func (i *invariants) fail(format string, args ...any) {
	if i.err == nil {
		i.err = fmt.Errorf(format, args...)
	}
}

// check runs after every step of every actor.
func (i *invariants) check(w *World) {
	if w.CCM.Leader() != nil {
		i.lastLed = w.Now
	}
	if leader := w.CCM.Leader(); leader != nil && leader.CloudNode {
		i.lastInitializing = w.Now
	}
	checkUnproven(i, w)
	checkBooted(i, w)
	checkUpgrade(i, w)
	i.checkNames(w)
	twice := i.attend(w)
	if w.lawless {
		// A closed fence ends what a person began; from then on the rules hold again.
		w.lawless = w.Leases.FenceOpen || w.CCM.Leader() != nil
		return
	}
	if twice != "" {
		i.fail("rule 2: %s", twice)
	}
	if i.created > 0 {
		i.fail("rule 2: %d load balancers were made again", i.created)
	}
}

// attend notes that a manager runs a cloud loop, and says which loop runs in more than one.
func (i *invariants) attend(w *World) (twice string) {
	for _, loop := range []string{observation.ServiceLoop, observation.RouteLoop, observation.CloudNodeLifecycleLoop} {
		names := running(w, loop)
		if len(names) > 1 {
			twice = fmt.Sprintf("loop %s runs in %v", loop, names)
		}
		if len(names) > 0 {
			i.lastAttended = w.Now
			if w.CCM.Leader() == nil || w.Leases.CCM.Renewed.After(w.Leases.CCM.Acquired) {
				i.lastServed = w.Now
			}
		}
	}
	return twice
}

// decided checks a decision against the observation that it rests on.
func (i *invariants) decided(w *World, o observation.Observation, d migration.Decision) {
	i.passes++
	i.checkShape(o, d)
	checkRow(i, o, d)
	i.checkOrder(w, o, d)
	i.checkUnknown(w, o, d)
	checkCanary(i, w, o, d)
	checkStep(i, w, d)
	checkGuarded(i, w, d)
	checkBootstraps(i, w, d)
	i.checkAttendance(w, o, d)
	checkBeside(i, w, d)
	checkWaitsForVolumes(i, w, d)
	checkRight(i, w, o, d)
	i.checkRelease(w, o, d)
	if i.previous.Step == ucv1.StepFinished && d.Step == ucv1.StepFinished && d.Next() != nil &&
		d.Next().Kind != outcome.ActionRelease &&
		w.Now.Sub(w.disturbed) > settling {
		i.fail("rule 1: a finished cluster is acted on: %s", d.Next().Kind)
	}
	i.previous = d
}

func (i *invariants) checkShape(o observation.Observation, d migration.Decision) {
	set := len(slices.DeleteFunc(
		[]bool{d.Action != nil, d.Wait != nil, d.Failure != nil}, func(is bool) bool { return !is }))
	if len(d.Repairs) > 0 {
		checkRepairs(i, d)
	}
	paused := o.Cluster.Spec.Paused || !o.Cluster.ExternalCloudProvider()
	atRest := d.Step == ucv1.StepFinished || d.Step == ucv1.StepRolledBack
	if want := !atRest && !paused; set > 1 || (set == 0 && want) {
		i.fail("decision at step %s has %d of action, wait and failure", d.Step, set)
	}
	i.checkRows(d)
}

// checkRepairs: they stand beside a wait or a failure; what is done by itself is the action.
func checkRepairs(i *invariants, d migration.Decision) {
	if d.Wait == nil && d.Failure == nil {
		i.fail("decision at step %s repairs %s, and waits and calls for nothing", d.Step, d.Repairs[0].Kind)
	}
}

func (i *invariants) checkRows(d migration.Decision) {
	for _, row := range d.Rows {
		if row.Reason == "" || (!row.Holds && row.Message == "") {
			i.fail("row %s has no reason or message at step %s", row.Step, d.Step)
		}
		if d.Step == ucv1.StepRolledBack && row.Reason != ucv1.RolledBackReason {
			i.fail("row %s has reason %s when everything is rolled back", row.Step, row.Reason)
		}
	}
}

func position(step ucv1.Step) int { return slices.Index(migration.Steps(), step) }

// checkOrder: steps go forward. The named exceptions are the guard, what could not be looked at, and the time in which a
// disturbance from outside is repaired.
// A rollback goes by the order of its own, and when it is forgotten, everything begins again.
func (i *invariants) checkOrder(w *World, o observation.Observation, d migration.Decision) {
	rolledBack := o.Cluster.Status.Rollback != nil
	if rolledBack || i.rolledBack {
		i.furthest, i.rolledBack = 0, rolledBack
		return
	}
	at := position(d.Step)
	guard := d.Calls() != nil && d.Calls().Reason == ucv1.CloudLoopsContendedReason
	unknown := d.Wait != nil && d.Wait.Unknown
	if guard {
		w.disturbed = w.Now
	}
	i.seeUnlinked(w)
	settled := w.settled(d) && w.Now.Sub(i.unlinked) > settling
	if at < i.furthest && settled && !guard && !unknown {
		i.fail("step went back from %s to %s", migration.Steps()[i.furthest], d.Step)
	}
	i.furthest = max(i.furthest, at)
}

// seeUnlinked: a pool that a person adds is waited for until the machine-controller has found its Nodes.
func (i *invariants) seeUnlinked(w *World) {
	if w.Machines.Unlinked() {
		i.unlinked = w.Now
	}
}

// settled says that nothing was disturbed lately.
func (w *World) settled(d migration.Decision) bool {
	return (w.disturbed.IsZero() || w.Now.Sub(w.disturbed) > settling) && !recasts(w, d)
}

// acting checks an action at the moment of acting, against the truth at the moment of looking.
func (i *invariants) acting(w *World, p pass) {
	action := p.Decision.Next()
	switch action.Kind {
	case outcome.ActionChangeArguments:
		i.checkChange(w, p, *action.Arguments)
		checkGates(i, w, p, *action.Arguments)
		checkFlag(i, w, p)
	case outcome.ActionOpenFence:
		if w.rollingBack() {
			i.fail("rule 2: the fence is opened in a rollback")
		}
		i.checkSilent(w, "the fence is opened")
		checkAlone(i, p.truth, "the fence is opened")
	case outcome.ActionApplyAddons:
		i.checkApplied(w, *action)
	case outcome.ActionRollMachineDeployment:
		i.checkRoll(w, p)
	case outcome.ActionStepMachineSet:
		checkLowered(i, w, *action)
	case outcome.ActionFreeLease:
		checkFreed(i, w, *action)
	case outcome.ActionReleaseCCMLease, outcome.ActionReleaseLock, outcome.ActionRemoveLock:
		checkTaken(i, w, *action)
	default:
	}
}

func (i *invariants) checkApplied(w *World, action outcome.Action) {
	checkCloudNode(i, w, action.AddonSet)
	ours := func(o observation.Ref) bool {
		return simulation.IsWorkload(o.Kind) && slices.Contains(w.Addons.CCM.Wanted, o)
	}
	if (w.Leases.FenceOpen || w.Traits.LeasesAreFree) && slices.ContainsFunc(action.Objects, ours) {
		i.checkSilent(w, "the CCM is applied behind an open fence")
	}
}

func (i *invariants) checkRoll(w *World, p pass) {
	idle := p.truth.idle(p.Decision.Next().Objects)
	// To turn one round that does not serve anyway disrupts nothing more.
	turns := w.rollingBack() && len(idle) == 0 && p.truth.back+len(p.Decision.Next().Objects) <= budget(w)
	if used := p.truth.busy + len(idle); used > budget(w) && !turns {
		i.fail("rule 4: %d MachineDeployments roll or do not serve, the budget is %d", used, budget(w))
	}
	if w.rollingBack() {
		if p.truth.configured != "" {
			i.fail("rule 5: MachineDeployments are rolled back while %s runs with its flag", p.truth.configured)
		}
		return
	}
	checkHalt(i, w, p)
	if !p.truth.led {
		i.fail("rule 5: MachineDeployments are rolled while the CCM does not lead")
	}
	if p.truth.unconfigured != "" {
		i.fail("rule 5: MachineDeployments are rolled while %s runs without its flag", p.truth.unconfigured)
	}
}

// checkSilent: also where a person broke the rules, we do not add to it.
func (i *invariants) checkSilent(w *World, what string) {
	for _, process := range w.ControlPlane.Processes {
		// A CCM with the migration lock may lead beside a KCM that has it.
		locked := process.Armed && w.NeedsOf(w.Facts()).Lock
		if process.Elects && len(process.Loops) > 0 && !locked && !accepted(w, process.PodName) {
			i.fail("rule 2: %s while %s may run %v", what, process.PodName, process.Loops)
		}
	}
}

func accepted(w *World, podName string) bool {
	return slices.Contains(w.Cluster.Spec.Handover.AcceptLostManagers, podName)
}

// checkChange: no action gives a loop back to KCM, except in a rollback before the point of no return, and never before every
// process of the CCM is silent.
func (i *invariants) checkChange(w *World, p pass, change outcome.ArgumentChange) {
	kcm := w.ControlPlane.KCM()
	if change.Target.UID != kcm.UID {
		return
	}
	after := &simulation.Workload{Arguments: maps.Clone(kcm.Arguments)}
	w.ControlPlane.Patch(after, change)
	before := unlocked(kcm.Arguments)
	for _, loop := range unlocked(after.Arguments) {
		switch {
		case slices.Contains(before, loop):
		case !w.rollingBack() || w.Facts().CompletedAt != nil:
			i.fail("rule 2: an action gives %s back to KCM", loop)
		default:
			i.checkCCMSilent(w, "KCM gets "+loop+" back")
			checkAlone(i, p.truth, "KCM gets "+loop+" back")
		}
	}
}

// unlocked are the loops that a KCM with these arguments runs whoever holds the migration lock.
func unlocked(arguments map[string]string) []string {
	if arguments["enable-leader-migration"] == "true" {
		return nil
	}
	return observation.Arguments{Flags: arguments}.CloudLoops()
}

// checkCCMSilent: no process of the CCM leads or can come to lead.
func (i *invariants) checkCCMSilent(w *World, what string) {
	for _, p := range w.CCM.Processes {
		if p.Leading || w.Leases.MayWrite(p) {
			i.fail("rule 2: %s while %s leads or may lead", what, p.PodName)
		}
	}
}

func (w *World) rollingBack() bool {
	rollback := w.Facts().Rollback
	return rollback != nil && rollback.FinishedAt == nil
}

// generation is the forceRestart value of the present direction.
func (w *World) generation() string {
	if w.rollingBack() {
		return w.Facts().Rollback.RollGeneration
	}
	return w.Facts().RollGeneration
}

// rolling checks one MachineDeployment whose forceRestart value is about to be set.
func (i *invariants) rolling(w *World, d *simulation.MachineDeployment, action outcome.Action) {
	value := action.RestartValue
	if value == "" || value != w.generation() {
		i.fail("rule 5: forceRestart value %q was not persisted before it is used", value)
	}
	if d.Restart == value {
		return
	}
	i.restarts[d.UID]++
	again := i.values[d.UID+"/"+value]
	i.values[d.UID+"/"+value] = true
	if again {
		i.fail("rule 5: MachineDeployment %s gets its forceRestart value twice", d.Name)
	}
	if w.rollingBack() {
		i.rollingBack(w, d)
		return
	}
	configured := w.Facts().MachineControllerConfiguredAt
	for _, s := range w.Machines.SetsOf(d) {
		if d.Current(s) && configured != nil && s.CreatedAt.After(configured.Time) && s.External {
			i.fail("rule 5: MachineDeployment %s is rolled although it is up-to-date", d.Name)
		}
	}
}

// replaced counts Machines that a rollout replaces: one that was made from our revision may not be among them, unless a person
// took the value out of the template again, which we never do (rolling).
func (i *invariants) replaced(w *World, m *simulation.Machine, s *simulation.MachineSet) {
	at := slices.IndexFunc(w.Machines.Deployments, func(d *simulation.MachineDeployment) bool { return d.UID == s.Deployment })
	if at < 0 {
		return
	}
	d := w.Machines.Deployments[at]
	if d.Current(s) || d.Deleting {
		return
	}
	i.replacing++
	if d.Restart != "" && s.Restart != "" && s.Restart == w.generation() && s.Revision == d.Revision {
		i.fail("rule 5: Machine %s was made from our revision and is replaced again", m.Name)
	}
}
