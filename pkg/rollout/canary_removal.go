package rollout

import (
	"slices"
	"strings"
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
			observation.Say("The canary does not go: ", observation.Names(late), ". Look at the machine-controller's events of a "+
				"Machine and at its instance in the cloud, and at whoever has to remove a finalizer.").Also(drainTroubles(in.input)),
		), true
	}
	left := leftOfCanary(held, seen)
	if len(left) == 0 {
		return outcome.Outcome{}, false
	}
	return outcome.WaitsUntil(
		ucv1.WaitingForMachinesReason,
		observation.Say("Waiting for the canary to go: ", observation.Names(left), ".").Also(drainTroubles(in.input)),
		time.Minute,
	), true
}

// leftOfCanary names what is still there. We delete the MachineDeployment in the background, before its Machine: while none goes,
// only its finalizers hold it, and the operating-system-manager's stays as long as that is down.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go (Reconcile)
func leftOfCanary(held []observation.Ref, seen observation.Machines) []observation.Text {
	left := observation.Texts(held)
	for _, deployment := range seen.Deployments {
		left = append(left, heldDeployment(deployment, seen))
	}
	return append(left, observation.Texts(refsOf(seen.Machines))...)
}

func heldDeployment(deployment observation.MachineDeployment, seen observation.Machines) observation.Text {
	if !heldByFinalizer(deployment, seen) {
		return observation.Say(deployment)
	}
	return observation.Say(deployment, ", held by finalizer "+strings.Join(deployment.Finalizers, ", "))
}

func heldByFinalizer(deployment observation.MachineDeployment, seen observation.Machines) bool {
	goes := slices.ContainsFunc(seen.Machines, func(machine observation.Machine) bool { return machine.Deleting })
	return deployment.Deleting && !goes && len(deployment.Finalizers) > 0
}

func refsOf(machines []observation.Machine) []observation.Ref {
	refs := make([]observation.Ref, 0, len(machines))
	for _, machine := range machines {
		refs = append(refs, machine.Ref)
	}
	return refs
}

// stuckCanary are the Machines of the canary that missed the deadline to go, or its MachineDeployment when finalizers hold it.
func stuckCanary(in fleet, seen observation.Machines) []observation.Text {
	var names []observation.Text
	for _, machine := range seen.Machines {
		if machine.Deleting && in.view.late(machine) {
			names = append(names, observation.Say(machine, " is being deleted since "+machine.DeletingSince.UTC().Format(time.RFC3339)))
		}
	}
	for _, deployment := range seen.Deployments {
		late := deployment.Deleting && in.now.Sub(deployment.DeletingSince) > in.view.deadline
		if late && heldByFinalizer(deployment, seen) {
			names = append(names, heldDeployment(deployment, seen))
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
