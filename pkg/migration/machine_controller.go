package migration

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// machineController comes before the first roll: a Machine that is made by a webhook, a controller or an
// operating-system-manager without the flag joins in-tree.
func machineController(in pass.Input) outcome.Outcome {
	if out := loops.CloudNode(in); !out.Holds {
		return out
	}
	deployments, stop := machineControllerDeployments(in)
	if stop != nil {
		return *stop
	}
	for _, deployment := range deployments {
		if !deployment.Arguments.Understood() {
			return outcome.Fails(ucv1.InputInvalidReason, deployment, ": "+deployment.Arguments.Problem, ".")
		}
		if !deployment.Flagged() {
			return setFlag(in, deployment)
		}
	}
	for _, deployment := range deployments {
		if !deployment.RolledOut {
			// Deployments of the user cluster are not watched.
			return outcome.WaitsUntil(ucv1.RollingOutReason, observation.Say(deployment, " is still rolling out."), 2*time.Second)
		}
	}
	if out := loops.CCMCanServe(in); !out.Holds {
		return out
	}
	if in.Facts.MachineControllerConfiguredAt == nil {
		return in.Records("Recording that new Machines join with an external cloud provider.", func(facts *ucv1.Facts) {
			facts.MachineControllerConfiguredAt = in.Stamp()
		})
	}
	return outcome.Holds(ucv1.HoldsReason, "New Machines join with an external cloud provider.")
}

// machineControllerDeployments are the Deployments to configure, or why that cannot be said: one that is left out lets kubelets
// join in-tree under Machines that are annotated as external.
func machineControllerDeployments(in pass.Input) ([]observation.MachineControllerDeployment, *outcome.Outcome) {
	stop := func(out outcome.Outcome) ([]observation.MachineControllerDeployment, *outcome.Outcome) {
		return nil, &out
	}
	deployments, known := in.MachineController.Get()
	if !known {
		return stop(outcome.CannotLook("the machine-controller", in.MachineController.Why()))
	}
	if !MachineControllerWanted(deployments) {
		machines, known := in.Machines.Get()
		switch {
		case in.Machines.IsAbsent() || known && len(machines.Machines)+len(machines.Deployments) == 0:
			return stop(outcome.Holds(ucv1.HoldsReason, "The cluster has no machine-controller and no Machines."))
		case !known:
			return stop(outcome.CannotLook("the Machines", in.Machines.Why()))
		}
	}
	if gap := MachineControllerGap(deployments); gap.Words != "" {
		return stop(outcome.Fails(ucv1.InputInvalidReason, gap, " "+MachineControllerRemedy))
	}
	return deployments, nil
}

// MachineControllerWanted says that some of the Deployments exist, or that the spec gives the name of one.
func MachineControllerWanted(deployments []observation.MachineControllerDeployment) bool {
	return slices.ContainsFunc(deployments, func(d observation.MachineControllerDeployment) bool { return !d.Missing || d.Named })
}

// MachineControllerRemedy is what a person does about a gap.
const MachineControllerRemedy = "Correct spec.machineController: where each of its Deployments is, and " +
	"operatingSystemManager.mode: None if the cluster has no operating-system-manager."

// MachineControllerGap says which Deployments of the machine-controller are missing, or are there against the spec; empty
// when all that decide about new Machines are known.
func MachineControllerGap(deployments []observation.MachineControllerDeployment) observation.Text {
	var missing, denied []observation.Ref
	for _, deployment := range deployments {
		switch {
		case deployment.Missing:
			missing = append(missing, deployment.Ref)
		case deployment.Denied:
			denied = append(denied, deployment.Ref)
		}
	}
	switch {
	case len(deployments) == 0:
		return observation.Say("No Deployment of the machine-controller was looked for.")
	case len(missing) > 0:
		return observation.Say("New Machines may join in-tree, because these do not exist: ", observation.Names(missing), ".")
	case len(denied) > 0:
		return observation.Say("The spec says that there is no operating-system-manager, and it exists: ",
			observation.Names(denied), ".")
	}
	return observation.Text{}
}

// setFlag first forgets since when the flags are in place if one was lost: a MachineSet that was made without it would
// count as up-to-date by its age.
func setFlag(in pass.Input, deployment observation.MachineControllerDeployment) outcome.Outcome {
	if in.Facts.MachineControllerConfiguredAt != nil {
		why := "Recording that " + deployment.String() + " lost " + deployment.Flag + ": MachineSets are judged again."
		return in.Records(why, func(facts *ucv1.Facts) { facts.MachineControllerConfiguredAt = nil })
	}
	// It led when the hand-over was finished, and a Cluster may have been away since.
	if out := loops.CCMCanServe(in); !out.Holds {
		return out
	}
	return outcome.Does(outcome.Action{
		Kind: outcome.ActionChangeArguments, Objects: []observation.Ref{deployment.Ref},
		Why: "Setting " + deployment.Flag + " in " + deployment.String() + ".",
		Arguments: &outcome.ArgumentChange{
			Target: deployment.Ref, Container: deployment.Container, InUserCluster: deployment.InUserCluster,
			Set: []outcome.Flag{{Name: deployment.Flag, Value: "true"}},
		},
	})
}

// rollbackMachineController takes the flags away: a Machine that is made from then on joins in-tree.
func rollbackMachineController(in pass.Input) outcome.Outcome {
	deployments, stop := machineControllerDeployments(in)
	if stop != nil {
		return *stop
	}
	for _, deployment := range deployments {
		if !deployment.Arguments.Understood() {
			return outcome.Fails(ucv1.InputInvalidReason, deployment, ": "+deployment.Arguments.Problem, ".")
		}
		if deployment.Arguments.True(strings.TrimLeft(deployment.Flag, "-"), false) {
			return unsetFlag(in, deployment)
		}
	}
	for _, deployment := range deployments {
		if !deployment.RolledOut {
			return outcome.WaitsUntil(ucv1.RollingOutReason, observation.Say(deployment, " is still rolling out."), 2*time.Second)
		}
	}
	if in.Facts.Rollback.MachineControllerRevertedAt == nil {
		return in.Records("Recording that new Machines join in-tree.", func(facts *ucv1.Facts) {
			facts.Rollback.MachineControllerRevertedAt = in.Stamp()
		})
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// unsetFlag first forgets since when the flags are gone if one came back, as setFlag does.
func unsetFlag(in pass.Input, deployment observation.MachineControllerDeployment) outcome.Outcome {
	if in.Facts.Rollback.MachineControllerRevertedAt != nil {
		why := "Recording that " + deployment.String() + " got " + deployment.Flag + " back: MachineSets are judged again."
		return in.Records(why, func(facts *ucv1.Facts) { facts.Rollback.MachineControllerRevertedAt = nil })
	}
	return outcome.Does(outcome.Action{
		Kind: outcome.ActionChangeArguments, Objects: []observation.Ref{deployment.Ref},
		Why: "Removing " + deployment.Flag + " from " + deployment.String() + ".",
		Arguments: &outcome.ArgumentChange{
			Target: deployment.Ref, Container: deployment.Container, InUserCluster: deployment.InUserCluster,
			Remove: []string{deployment.Flag},
		},
	})
}
