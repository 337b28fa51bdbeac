package components

import (
	"cmp"
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// Target is a part of a component that is changed by itself: the Deployment, or the static pod of one Node.
type Target struct {
	Component observation.Component
	// Process is the static pod; zero for a Deployment.
	Process observation.Process
	Leads   bool
}

// Targets are in the order in which they are to be changed: the leader comes last, so that the loops are served for as
// long as possible, and are without a manager for one restart only.
func Targets(in pass.Input, component observation.Component) []Target {
	if !in.Cluster.Spec.ControlPlane.Static() {
		return []Target{{Component: component}}
	}
	var targets []Target
	for _, process := range component.Pods {
		if process.Ended {
			continue
		}
		one := component
		one.Arguments = process.Arguments
		targets = append(targets, Target{Component: one, Process: process, Leads: Leads(in, process)})
	}
	slices.SortStableFunc(targets, func(a, b Target) int {
		return cmp.Or(boolRank(a.Leads)-boolRank(b.Leads), strings.Compare(a.Process.NodeName, b.Process.NodeName))
	})
	return targets
}

// MissingTargets are the Nodes that show no pod now, as while a kubelet puts another one in its place. They come first:
// the others have to wait for them.
func MissingTargets(component observation.Component) []Target {
	var targets []Target
	for _, node := range component.Missing {
		targets = append(targets, Target{Component: component, Process: observation.Process{NodeName: node}})
	}
	return targets
}

// Runs says that the target came back after its change; a Deployment's pods are asked for by its rollout.
func (t Target) Runs() bool { return t.Process.NodeName == "" || !t.Process.RunningSince.IsZero() }

func boolRank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// Leads says that the process holds KCM's Lease, as far as that can be told.
func Leads(in pass.Input, process observation.Process) bool {
	lease, known := in.KCMLease.Get()
	return known && handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
}

// Reference is the Deployment, or the Node of the static pod.
func (t Target) Reference() observation.Ref {
	if t.Process.NodeName == "" {
		return t.Component.Ref
	}
	return observation.NodeRef(t.Process.NodeName)
}

// String names the target as its administrator knows it.
func (t Target) String() string {
	if t.Process.NodeName == "" {
		return t.Component.String()
	}
	return t.Component.Container + " on Node " + t.Process.NodeName
}

// InOrder joins names in their order, bounded like those of named.
func InOrder(targets []Target) observation.Text {
	texts := observation.Texts(targets)
	if rest := len(texts) - wording.MostNames; rest > 0 {
		return observation.Say(observation.Join(texts[:wording.MostNames], ", "), " and "+wording.Count(rest, "more", "more"))
	}
	return observation.Join(texts, ", ")
}

// EveryTarget is Every where someone else changes the control plane.
func EveryTarget(
	in pass.Input,
	components []observation.Component,
	change func(observation.Component) (*outcome.ArgumentChange, string),
	held string,
) outcome.Outcome {
	var list Instructions
	var missing []Target
	var rolling []observation.Text
	for _, component := range components {
		for _, t := range MissingTargets(component) {
			list = list.And(t, outcome.ArgumentChange{}, false)
		}
		for _, t := range Targets(in, component) {
			if !t.Component.Arguments.Understood() {
				return list.With(outcome.Fails(ucv1.InputInvalidReason, t, ": "+t.Component.Arguments.Problem, "."))
			}
			arguments, _ := change(t.Component)
			if arguments == nil {
				list = list.And(t, outcome.ArgumentChange{}, t.Runs())
				continue
			}
			list = list.And(t, *arguments, false)
			missing = append(missing, t)
		}
		if !component.RolledOut {
			rolling = append(append(rolling, observation.Say(component, " is still rolling out.")), component.Unseen...)
		}
	}
	switch {
	case len(missing) > 0:
		return list.With(outcome.Waits(
			ucv1.WaitingForAdministratorReason,
			"The flags have to be changed, one after the other, in ", InOrder(missing), ", as status.instructions says.",
		))
	case len(rolling) > 0:
		first := observation.FirstOf(rolling, "component", "components")
		return list.With(outcome.WaitsUntil(ucv1.RollingOutReason, first, 5*time.Second))
	}
	return outcome.Holds(ucv1.HoldsReason, held)
}

// Untouched says that nothing was done to KCM that would have to be brought to its end.
func Untouched(in pass.Input) bool {
	return in.Facts.Handover == nil || in.Facts.Handover.StartedAt == nil || unchanged(in)
}

// unchanged says that no one has switched off a cloud loop yet, nor given the migration lock, so that KCM goes on as before
// without us. Only what someone else changes can be left for long between the beginning of the hand-over and its first change.
func unchanged(in pass.Input) bool {
	controlPlane, known := in.ControlPlane.Get()
	recorded := in.Facts.Handover
	if !known || !in.Cluster.Spec.ControlPlane.Instructed() || recorded.ChangingSince != nil || recorded.LoopsOffAt != nil ||
		recorded.LockArmedAt != nil || !controlPlane.KCM.RolledOut {
		return false
	}
	return !slices.ContainsFunc(Targets(in, controlPlane.KCM), func(t Target) bool {
		return len(t.Component.Arguments.CloudLoops()) == 0 || handover.Armed(t.Component.Arguments)
	})
}
