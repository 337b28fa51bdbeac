package components

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Every changes one component a pass, and holds when all are changed and rolled out with no old pod left.
func Every(in pass.Input, change func(observation.Component) (*outcome.ArgumentChange, string), held string) outcome.Outcome {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	components := append(slices.Clone(controlPlane.Others), controlPlane.KCM)
	if in.Cluster.Spec.ControlPlane.Instructed() {
		return EveryTarget(in, components, change, held)
	}
	for _, component := range components {
		if !component.Arguments.Understood() {
			return outcome.Fails(ucv1.InputInvalidReason, component, ": "+component.Arguments.Problem, ".")
		}
		if arguments, why := change(component); arguments != nil {
			return outcome.Does(
				outcome.Action{
					Kind:      outcome.ActionChangeArguments,
					Objects:   []observation.Ref{component.Ref},
					Arguments: arguments,
					Why:       why,
				},
			)
		}
	}
	for _, component := range components {
		if !component.RolledOut {
			return outcome.Waits(ucv1.RollingOutReason, component, " is still rolling out.")
		}
	}
	return outcome.Holds(ucv1.HoldsReason, held)
}

// MissingGates are those that the arguments do not have with that value, as name=value, sorted.
func MissingGates(arguments observation.Arguments, gates map[string]bool) []string {
	var missing []string
	for gate, want := range gates {
		if value, given := arguments.FeatureGate(gate); !given || value != want {
			missing = append(missing, gate+"="+strconv.FormatBool(want))
		}
	}
	slices.Sort(missing)
	return missing
}

// GatesFlag keeps the other gates as they are.
func GatesFlag(arguments observation.Arguments, gates map[string]bool) outcome.Flag {
	var pairs []string
	for pair := range strings.SplitSeq(arguments.Flags["feature-gates"], ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if _, ours := gates[name]; name != "" && !ours {
			pairs = append(pairs, strings.TrimSpace(pair))
		}
	}
	for _, gate := range slices.Sorted(maps.Keys(gates)) {
		pairs = append(pairs, gate+"="+strconv.FormatBool(gates[gate]))
	}
	return outcome.Flag{Name: "--feature-gates", Value: strings.Join(pairs, ",")}
}
