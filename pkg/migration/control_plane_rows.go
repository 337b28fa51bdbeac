package migration

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// volumeMigration switches the CSI migration gates on before any kubelet does: control plane first, because a kubelet
// that migrates a volume which its controllers do not migrate cannot mount it (KEP-625).
func volumeMigration(in input) outcome.Outcome {
	gates := in.Provider.Value().MigrationGates
	if !in.Provider.IsKnown() {
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	}
	if len(gates) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "This Kubernetes minor migrates the provider's volumes without a gate.")
	}
	if out := originalsOfOthersKept(in); !out.Holds {
		return out
	}
	return wholeControlPlane(in, func(component observation.Component) (*outcome.ArgumentChange, string) {
		missing := missingGates(component.Arguments, gates)
		if len(missing) == 0 {
			return nil, ""
		}
		return &outcome.ArgumentChange{
			Target: component.Ref, Container: component.Container,
			Set: []outcome.Flag{gatesFlag(component.Arguments, gates)},
		}, "Switching feature gates in " + component.String() + ": " + wording.Names(missing) + "."
	}, "The CSI migration gates are on.")
}

// everyComponent changes one component a pass, and holds when all are changed and rolled out with no old pod left.
func everyComponent(in input, change func(observation.Component) (*outcome.ArgumentChange, string), held string) outcome.Outcome {
	controlPlane, known := in.ControlPlane.Get()
	if !known {
		return outcome.CannotLook("the control plane", in.ControlPlane.Why())
	}
	components := append(slices.Clone(controlPlane.Others), controlPlane.KCM)
	if in.Cluster.Spec.ControlPlane.Instructed() {
		return everyTarget(in, components, change, held)
	}
	for _, component := range components {
		if !component.Arguments.Understood() {
			return outcome.Fails(ucv1.InputInvalidReason, component, ": "+component.Arguments.Problem)
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

func missingGates(arguments observation.Arguments, gates map[string]bool) []string {
	var missing []string
	for gate, want := range gates {
		if value, given := arguments.FeatureGate(gate); !given || value != want {
			missing = append(missing, gate+"="+strconv.FormatBool(want))
		}
	}
	slices.Sort(missing)
	return missing
}

// gatesFlag keeps the other gates as they are.
func gatesFlag(arguments observation.Arguments, gates map[string]bool) outcome.Flag {
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

// ccmCanServe gates everything that makes new Nodes: the machine-controller would call a Node available while it is
// still tainted, so a dead CCM would let a whole fleet be replaced by unschedulable Nodes.
func ccmCanServe(in input) outcome.Outcome {
	out := ccmLeads(in)
	if lease, seen := in.CCMLease.Get(); seen && !out.Holds && lease.DeadSince(in.Now, in.Deadlines.Leader) {
		out = outcome.Fails(
			ucv1.LeaderDeadlineExceededReason,
			"None of the CCM's pods leads for more than ", in.Deadlines.Leader, ": ",
			lease, " is not being renewed. Look at the logs of its pods in the user cluster."+rollbackOffer(in),
		)
	}
	nodes, known := in.Nodes.Get()
	switch {
	case out.Holds:
		return out
	case !known:
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	case len(nodes) == 0:
		return outcome.Holds(ucv1.NoNodesReason, "")
	}
	return out
}

func markCompleted(in input) outcome.Outcome {
	if in.Facts.CompletedAt != nil {
		return outcome.Holds(ucv1.CSIKubeletMigrationSuccessReason, "external CCM/CSI migration completed")
	}
	if out := noStrangerLeads(in); !out.Holds {
		return out
	}
	if out := beforePointOfNoReturn(in); !out.Holds {
		return out
	}
	return in.Records("The migration is completed.", func(facts *ucv1.Facts) {
		facts.CompletedAt = in.Stamp()
		if facts.PointOfNoReturnAt == nil {
			facts.PointOfNoReturnAt = facts.CompletedAt
		}
	})
}

// finalize takes the in-tree configuration out in a spelling that this and the next minor accept: flags are removed, but for
// KCM's provider, and the excluded names, which 1.37 does not know any more, go too
// (https://github.com/kubernetes/kubernetes/pull/138002). The default StorageClass does not wait for whoever changes the flags.
func finalize(in input) outcome.Outcome {
	flags := inTreeFlags(in)
	if flags.Holds {
		if gone := rightGone(in); gone.Holds {
			flags.Facts = gone.Facts
		} else {
			flags = gone
		}
	}
	if flags.Action != nil {
		return flags
	}
	class := defaultClass(in.With(flags))
	if class.Action != nil || flags.Holds && !class.Holds {
		class.Facts, class.Instructions = cmp.Or(class.Facts, flags.Facts), flags.Instructions
		return class
	}
	return flags
}

func inTreeFlags(in input) outcome.Outcome {
	return wholeControlPlane(in, func(component observation.Component) (*outcome.ArgumentChange, string) {
		change := inTreeRemoval(component, in.Provider.Value().RetiredGates)
		if component.Container == in.ControlPlane.Value().KCM.Container {
			change = keepExternal(change)
		}
		return change, "Removing the in-tree configuration from " + component.String() + "."
	}, "The in-tree configuration is gone.")
}

func inTreeRemoval(component observation.Component, retired []string) *outcome.ArgumentChange {
	arguments := component.Arguments
	change := outcome.ArgumentChange{Target: component.Ref, Container: component.Container}
	for _, name := range []string{"cloud-provider", "cloud-config", "external-cloud-volume-plugin", "configure-cloud-routes"} {
		if value, given := arguments.Flag(name); given && value != "external" {
			change.Remove = append(change.Remove, name)
		}
	}
	if list, given := arguments.Flag("controllers"); given {
		if kept := withoutExcludedLoops(list); kept != list {
			change.Set = append(change.Set, outcome.Flag{Name: "--controllers", Value: kept})
		}
	}
	if given, ok := arguments.Flag("feature-gates"); ok {
		switch kept := withoutInTreeGates(given, retired); {
		case kept == "":
			change.Remove = append(change.Remove, "feature-gates")
		case kept != given:
			change.Set = append(change.Set, outcome.Flag{Name: "--feature-gates", Value: kept})
		}
	}
	if len(change.Remove) == 0 && len(change.Set) == 0 {
		return nil
	}
	return &change
}

// keepExternal lets KCM have --cloud-provider=external instead of none. KCM accepts it and starts none of the cloud loops with
// it, as was read in 1.24.17, 1.30.14, 1.31.0, 1.33.6, 1.36.3 and 1.37.2; without it those of 1.31.0 to 1.31.2 crash in the
// service loop.
// https://github.com/kubernetes/kubernetes/blob/v1.24.17/cmd/kube-controller-manager/app/cloudproviders.go
// https://github.com/kubernetes/kubernetes/blob/v1.37.2/cmd/kube-controller-manager/app/options/options.go
// https://github.com/kubernetes/kubernetes/pull/128182
func keepExternal(change *outcome.ArgumentChange) *outcome.ArgumentChange {
	if change == nil {
		return nil
	}
	if at := slices.Index(change.Remove, "cloud-provider"); at >= 0 {
		change.Remove = slices.Delete(change.Remove, at, at+1)
		change.Set = append([]outcome.Flag{{Name: "--cloud-provider", Value: "external"}}, change.Set...)
	}
	return change
}

func withoutExcludedLoops(list string) string {
	entries := strings.Split(list, ",")
	entries = slices.DeleteFunc(entries, func(entry string) bool {
		name, excluded := strings.CutPrefix(strings.TrimSpace(entry), "-")
		return excluded && isCloudLoop(name)
	})
	if len(entries) == 0 {
		return "*"
	}
	return strings.Join(entries, ",")
}

// withoutInTreeGates drops the two gates that let in-tree providers live in 1.29 and 1.30, which 1.33 does not know, and
// those of the provider that the next minor does not know.
func withoutInTreeGates(gates string, retired []string) string {
	retired = append([]string{"DisableCloudProviders", "DisableKubeletCloudCredentialProviders"}, retired...)
	pairs := slices.DeleteFunc(strings.Split(gates, ","), func(pair string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
		return slices.Contains(retired, name)
	})
	return strings.Join(pairs, ",")
}
