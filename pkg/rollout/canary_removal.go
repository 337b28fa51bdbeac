package rollout

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// removeCanary takes the workload first, so that its volume is detached while the Node is there, and then the Machine, whatever
// became of the workload. It is left while anything of it exists.
func removeCanary(in fleet) (outcome.Outcome, bool) {
	if in.facts.Canary == nil {
		return outcome.Outcome{}, false
	}
	workload, known := in.o.Canary.Get()
	if !known {
		return outcome.CannotLook("the canary", in.o.Canary.Why()), true
	}
	now, held := leavingOf(workload, in.now, in.o.Deadlines.CanaryRemoval)
	_, seen := in.o.Machines.Value().Split()
	if len(now)+len(held) == 0 {
		now = stillThere(seen.Deployments)
	}
	if len(now) > 0 {
		return outcome.Does(outcome.Action{Kind: outcome.ActionRemoveCanary, Objects: now, Why: "Removing the canary: " +
			wording.Names(observation.RefNames(now)) + "."}), true
	}
	if late := stuckCanary(in, seen); len(late) > 0 {
		return outcome.Fails(
			ucv1.NodesNotInitializedReason,
			observation.Say("The canary does not go: ", observation.Names(late), ". Look at the machine-controller's events of the "+
				"Machine, and at its instance in the cloud.").Also(drainTroubles(in.input)),
		), true
	}
	left := slices.Clone(held)
	for _, deployment := range seen.Deployments {
		left = append(left, deployment.Ref)
	}
	for _, machine := range seen.Machines {
		left = append(left, machine.Ref)
	}
	if len(left) == 0 {
		return outcome.Outcome{}, false
	}
	return outcome.WaitsUntil(
		ucv1.WaitingForMachinesReason,
		observation.Say("Waiting for the canary to go: ", observation.Names(left), ".").Also(drainTroubles(in.input)),
		time.Minute,
	), true
}

// stuckCanary are Machines of the canary that missed the deadline to go.
func stuckCanary(in fleet, seen observation.Machines) []observation.Text {
	var names []observation.Text
	for _, machine := range seen.Machines {
		if machine.Deleting && in.view.late(machine) {
			names = append(names, observation.Say(machine, " is being deleted since "+machine.DeletingSince.UTC().Format(time.RFC3339)))
		}
	}
	return names
}

// leavingOf are the objects that are to be deleted, and those that the Machine has to stay for until they are gone, or the
// patience is at its end.
func leavingOf(w observation.CanaryWorkload, now time.Time, patience time.Duration) (next, held []observation.Ref) {
	for _, object := range w.Objects {
		switch {
		case object.DeletingSince.IsZero():
			next = append(next, object.Ref)
		case object.Kind != "Service" && now.Sub(object.DeletingSince) < patience:
			held = append(held, object.Ref)
		}
	}
	return next, held
}

func stillThere(deployments []observation.MachineDeployment) (refs []observation.Ref) {
	for _, deployment := range deployments {
		if !deployment.Deleting {
			refs = append(refs, deployment.Ref)
		}
	}
	return refs
}
