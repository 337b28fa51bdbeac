package fleet

import (
	"fmt"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// says what the state of a Cluster comes to.
func (m member) says() string {
	name := m.seen.String()
	switch m.plan.State {
	case fleet.OutOfScope:
		return fmt.Sprintf("There is nothing to migrate (%s).", m.outOfScope())
	case fleet.NotRequested:
		return "Its feature is off, and FleetMigrations with enablement Requested leave it to people: set " +
			"spec.features.externalCloudProvider to true to queue it."
	case fleet.InFlight:
		return m.saysOfFlight()
	case fleet.Succeeded:
		return "Migrated at " + when(m.seen.CompletedAt) + "."
	case fleet.Failed:
		counts := "it counts as failed until it recovers or is done"
		if m.plan.Forgiven {
			counts = "that was before spec.failures.countSince and halts nothing"
		}
		return fmt.Sprintf("It failed at %s (%s); %s. 'ccm-migration-controller why %s' says what to do.", when(m.plan.Failed.Since),
			m.plan.Failed.Reason, counts, name)
	case fleet.RolledBack:
		return "It is rolled back, or being so. 'ccm-migration-controller status " + name + "' says how far."
	case fleet.Queued:
		if len(m.plan.Obstacles) == 0 {
			return "Nothing is in its way: it starts within seconds of the manager's next pass."
		}
	case fleet.Ineligible, fleet.Outside:
	}
	return ""
}

func (m member) saysOfFlight() string {
	name := m.seen.String()
	switch {
	case m.plan.Admit:
		return "Nothing is in its way: the manager admits it in its next pass."
	case m.plan.Directive == ucv1.DirectiveHoldRoll:
		return "It migrates, and its roll is held: no further MachineDeployment begins until a window opens or a halt ends. " +
			"'ccm-migration-controller status " + name + "' says how far it is."
	case m.plan.Directive == ucv1.DirectiveRollback:
		return "spec.rollback of its FleetMigration rolls it back. 'ccm-migration-controller status " + name + "' says how far it is."
	}
	return "It migrates. 'ccm-migration-controller status " + name + "' says how far it is."
}

func (m member) outOfScope() string {
	switch {
	case m.seen.OutOfScope != "":
		return m.seen.OutOfScope
	case m.seen.Deleting:
		return ucv1.DeletingReason
	}
	return string(m.plan.State)
}

// outside is a Cluster that no FleetMigration counts: the gate of the manager says whether it may start.
func (r *whyReport) outside(m member) {
	for _, o := range m.plan.Obstacles {
		r.add(o)
	}
	if len(r.Obstacles) > 0 || m.plan.State != fleet.Outside {
		return
	}
	selected := observation.Known(false)
	required := fleet.Gate(m.seen.Admission, m.seen.Immediate, selected, fleet.Required)
	switch {
	case !m.seen.StartedAt.IsZero():
		r.Says = "No FleetMigration selects it. It has started, and goes on by itself."
	case required.Reason == "":
		r.Says = "No FleetMigration selects it, and it may start: it was admitted, or spec.admission is Immediate."
	default:
		r.Says = "No FleetMigration selects it. It starts by itself when its feature is on and the manager runs with " +
			"--fleet-admission=Optional; the obstacle holds with Required."
		r.add(required)
	}
}

// freed is when an obstacle that other Clusters are ends in a forecast, at the earliest.
func freed(f forecast.Forecast, o fleet.Obstacle) time.Time {
	if o.Reason != ucv1.WaveWaitingReason {
		return f.FirstFreed
	}
	for _, wave := range f.Waves {
		if wave.Name == o.Of {
			return wave.OpensAt
		}
	}
	return time.Time{}
}

// waitsFor is what a forecast waits for that never ends.
func waitsFor(f forecast.Forecast) string {
	if f.Waits.Reason == forecast.TooFar {
		return "it would take too many steps, and was given up at " + when(f.Waits.At)
	}
	if f.Waits.Wave == "" {
		return "it waits for " + f.Waits.Reason
	}
	reasons := []string{}
	for _, c := range f.Waits.Clusters[:min(len(f.Waits.Clusters), named)] {
		reasons = append(reasons, fmt.Sprintf("%s %d (%s)", c.Reason, c.Count, examples(int(c.Count), c.Examples)))
	}
	if len(reasons) == 0 {
		return "wave " + f.Waits.Wave + " waits for " + f.Waits.Reason
	}
	return "wave " + f.Waits.Wave + " does not pass: " + strings.Join(reasons, ", ")
}
