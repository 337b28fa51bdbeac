package fleet

import (
	"fmt"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// mostTasks of one kind that are listed.
const mostTasks = 5

// task is what a person has to do.
type task struct {
	Who     who    `json:"who"`
	Message string `json:"message"`
	// Commands in their order; the first ones look.
	Commands []string `json:"commands,omitempty"`
}

// tasks that people have to do, so that a FleetMigration goes on: first what stops all.
func (m migration) tasks() []task {
	var tasks []task
	tasks = append(tasks, m.taskOfStop()...)
	for i := range m.plan.Waves {
		if w := &m.plan.Waves[i]; w.State == ucv1.WaveAwaitingApproval {
			tasks = append(tasks, task{you, fmt.Sprintf("Approve wave %s, or leave it: it could open now.", w.Name),
				[]string{program + "gate " + m.plan.Name + " " + w.Name}})
		}
	}
	if n := m.plan.Status.Unplaced; n.Count > 0 {
		tasks = append(tasks, task{you, fmt.Sprintf("No wave selects %s (%s). Add a wave, or a label that a wave selects.",
			wording.Count(int(n.Count), "Cluster", "Clusters"), examples(int(n.Count), n.Examples)), nil})
	}
	tasks = append(tasks, m.tasksOfFailures()...)
	tasks = append(tasks, m.tasksOfIneligible()...)
	tasks = append(tasks, m.taskOfFeature()...)
	return append(tasks, m.tasksOfUnclaimed(m.plan.Name)...)
}

// taskOfStop is about what keeps a FleetMigration from admitting any Cluster.
func (m migration) taskOfStop() []task {
	name := m.plan.Name
	switch m.plan.Stopped {
	case "":
		if m.plan.NoWindowAhead {
			return []task{{you, meaningOf(ucv1.NoWindowAheadReason).sentence(fleet.Obstacle{}, names{fleetMigration: name}), nil}}
		}
		return nil
	case ucv1.FleetSpecInvalidReason:
		return []task{{you, "The spec cannot be followed, and no Cluster is admitted: " + strings.Join(m.plan.Problems, "; ") + ".",
			[]string{"kubectl edit fleetmigration " + name}}}
	case ucv1.FleetHaltedReason:
		return []task{m.taskOfHalt()}
	case ucv1.FleetOnHoldReason, ucv1.FleetPlanOnlyReason:
		return []task{{you, "No Cluster is admitted: spec.mode is " + string(m.object.Spec.Mode) + ". To begin, or to go on, set it to Run.",
			[]string{merge(name, `{"mode":"Run"}`)}}}
	}
	return []task{{you, meaningOf(m.plan.Stopped).sentence(fleet.Obstacle{Of: name}, names{fleetMigration: name}), nil}}
}

func (m migration) taskOfHalt() task {
	halt := m.plan.Halt
	said, _, _ := strings.Cut(halt.Message, " Look at ")
	message := fmt.Sprintf("Halted since %s (%s): %s", when(halt.At.Time), halt.Reason, said)
	if len(halt.Clusters) > 0 {
		message += " Look at " + examples(len(halt.Clusters), halt.Clusters) + ", then resume: failures until then are forgiven."
	}
	return task{you, message, []string{
		program + "failures " + m.plan.Name + " --by reason", resume(m.plan.Name, halt, m.at),
	}}
}

// tasksOfFailures are about Clusters that failed and have not halted anything.
func (m migration) tasksOfFailures() []task {
	var names []string
	for _, of := range m.members() {
		if of.plan.State == fleet.Failed && !of.plan.Forgiven {
			names = append(names, of.seen.String())
		}
	}
	if len(names) == 0 || m.plan.Halt != nil {
		return nil
	}
	slices.Sort(names)
	return []task{{you, fmt.Sprintf("%s failed: %s.", wording.Count(len(names), "Cluster", "Clusters"), examples(len(names), names)),
		[]string{program + "failures " + m.plan.Name + " --by reason", "ccm-migration-controller why " + names[0]}}}
}

// tasksOfIneligible are about Clusters that wait for a person, by the reason.
func (m migration) tasksOfIneligible() []task {
	names := map[string][]string{}
	for _, of := range m.members() {
		if of.plan.State != fleet.Ineligible {
			continue
		}
		for _, o := range of.plan.Obstacles {
			if o.Reason != ucv1.UnplacedReason && o.Of == "" && meaningOf(o.Reason).endedBy.acts() {
				names[o.Reason] = append(names[o.Reason], of.seen.String())
			}
		}
	}
	return tasksBy(names)
}

// tasksBy reason: the most Clusters first.
func tasksBy(names map[string][]string) []task {
	var tasks []task
	for len(names) > 0 && len(tasks) < mostTasks {
		counts := map[string]int{}
		for reason := range names {
			counts[reason] = len(names[reason])
		}
		reason := most(counts)
		found := names[reason]
		delete(names, reason)
		slices.Sort(found)
		means := meaningOf(reason)
		tasks = append(tasks, task{means.endedBy, fmt.Sprintf("%s: %s (%s).", reason,
			wording.Count(len(found), "Cluster waits", "Clusters wait"), examples(len(found), found)),
			[]string{program + "why " + found[0]}})
	}
	return tasks
}

// taskOfFeature is about Clusters that no one wants migrated yet, in the wave that waits.
func (m migration) taskOfFeature() []task {
	for i := range m.plan.Waves {
		w := &m.plan.Waves[i]
		if w.Name == m.plan.Status.Wave && w.Clusters.NotRequested > 0 {
			return []task{{owner, fmt.Sprintf("%s the feature off. Set spec.features.externalCloudProvider to true where it is wanted.",
				wording.Count(int(w.Clusters.NotRequested), "Cluster of wave "+w.Name+" has", "Clusters of wave "+w.Name+" have")), nil}}
		}
	}
	return nil
}

// tasksOfUnclaimed are about Clusters that a FleetMigration claimed which is gone, or selects them no longer. With a name, those
// that it has claimed; without, those of which it is gone.
func (v *view) tasksOfUnclaimed(name string) []task {
	wanted, names := ucv1.FleetMigrationGoneReason, map[string][]string{}
	if name != "" {
		wanted = ucv1.NotSelectedReason
	}
	for i := range v.plan.Members {
		for _, o := range v.plan.Members[i].Obstacles {
			if o.Reason == wanted && (name == "" || o.Of == name) {
				names[o.Reason] = append(names[o.Reason], v.fleet.Members[i].String())
			}
		}
	}
	return tasksBy(names)
}
