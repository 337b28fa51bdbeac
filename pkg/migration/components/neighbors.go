package components

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// neighborPause is how often what others change is looked at again: no watch tells of it.
const neighborPause = 30 * time.Second

// InTreeConfiguration names what rows VolumeMigration and Finalize would change in the component, if it were ours; or why that
// cannot be told.
func InTreeConfiguration(n observation.Neighbor, provider observation.Provider) []string {
	return differencesOf(n, func(component observation.Component) *outcome.ArgumentChange {
		removal := outcome.ArgumentChange{}
		if change := InTreeRemoval(component, provider.RetiredGates); change != nil {
			removal = *change
		}
		for _, gate := range MissingGates(component.Arguments, provider.MigrationGates) {
			removal.Set = append(removal.Set, outcome.Flag{Name: gate})
		}
		return &removal
	})
}

// differencesOf asks the template, and each pod that may still run with other arguments.
func differencesOf(n observation.Neighbor, change func(observation.Component) *outcome.ArgumentChange) []string {
	all := []observation.Arguments{n.Arguments}
	for _, process := range n.Pods {
		if !process.Ended {
			all = append(all, process.Arguments)
		}
	}
	var names []string
	for _, arguments := range all {
		if !arguments.Understood() {
			return []string{arguments.Problem}
		}
		component := n.Component
		component.Arguments = arguments
		wanted := change(component)
		if wanted == nil {
			continue
		}
		for _, name := range wanted.Remove {
			names = append(names, "--"+name)
		}
		for _, flag := range wanted.Set {
			names = append(names, strings.TrimSuffix(flag.Name+"="+flag.Value, "="))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Unclaimed is the next step for neighbors that the spec does not mention.
const Unclaimed = "Set ownership in that field: Ours, and the migration changes it, or Foreign, and it waits until its owner " +
	"has changed it."

// Whole is Every, and looks at what is not ours to change, too. It holds for nothing that was seen to be
// otherwise, and says what was not seen.
func Whole(in pass.Input,
	change func(observation.Component) (*outcome.ArgumentChange, string),
	held string,
) outcome.Outcome {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	var unclaimed, foreign []observation.Text
	for _, neighbor := range controlPlane.Neighbors {
		differs := differencesOf(neighbor, func(component observation.Component) *outcome.ArgumentChange {
			arguments, _ := change(component)
			return arguments
		})
		sentence := observation.Say(neighbor, " ("+neighbor.Field+"): "+strings.Join(differs, ", "))
		switch {
		case len(differs) > 0 && !neighbor.Foreign:
			unclaimed = append(unclaimed, sentence)
		case len(differs) > 0:
			foreign = append(foreign, sentence)
		}
	}
	if len(unclaimed) > 0 {
		return outcome.Fails(ucv1.ComponentUnclaimedReason, "The spec does not say who owns these, and their flags have to change: ",
			observation.Join(unclaimed, "; "), ". "+Unclaimed)
	}
	out := Every(in, change, held+" "+componentsSeen(controlPlane))
	if out.Holds && len(foreign) > 0 {
		return outcome.WaitsUntil(ucv1.WaitingForAdministratorReason, observation.Say("Waiting for the owners of these to change "+
			"their flags: ", observation.Join(foreign, "; "), "."), neighborPause)
	}
	return out
}

// componentsSeen says what a claim about the control plane rests on.
func componentsSeen(c observation.ControlPlane) string {
	names := []string{c.KCM.String()}
	for _, component := range c.Others {
		names = append(names, component.String())
	}
	for _, neighbor := range c.Neighbors {
		names = append(names, neighbor.String())
	}
	slices.Sort(names[1:])
	sentence := "Looked at: " + strings.Join(names, ", ")
	if len(c.NotSeen) > 0 {
		sentence += "; not found beside it, so not looked at: " + strings.Join(c.NotSeen, ", ")
	}
	return sentence + "."
}
