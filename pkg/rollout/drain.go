package rollout

import (
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// defaultSkipEviction is when the machine-controller stops to drain and goes on by force, unless its flag says otherwise.
// https://github.com/kubermatic/machine-controller/blob/v1.61.0/cmd/machine-controller/main.go
const defaultSkipEviction = 2 * time.Hour

// drainPatience is how long a drain may take before its troubles are looked for.
const drainPatience = 30 * time.Second

// DrainsOf are the Machines that have been going for a while, so that it is worth to look at what holds them.
func DrainsOf(machines observation.Machines, now time.Time) []observation.Machine {
	return slices.DeleteFunc(slices.Clone(machines.Machines), func(machine observation.Machine) bool {
		return !machine.Deleting || now.Sub(machine.DeletingSince) < drainPatience
	})
}

// skipEviction is the machine-controller's -skip-eviction-after.
func skipEviction(in input) time.Duration {
	for _, deployment := range in.o.MachineController.Value() {
		if value, set := deployment.Arguments.Flag("skip-eviction-after"); set {
			if after, err := time.ParseDuration(value); err == nil {
				return after
			}
		}
	}
	return defaultSkipEviction
}

// drainTroubles is a clause about Machines that do not go, with what holds the first and when force is used. Empty where
// nothing holds one, or no one could look.
func drainTroubles(in input) observation.Text {
	var clauses []observation.Text
	for _, drain := range in.o.Drains.Value() {
		at := slices.IndexFunc(
			in.o.Machines.Value().Machines,
			func(m observation.Machine) bool { return m.UID == drain.Machine.UID && m.Deleting },
		)
		if troubles := troublesOf(drain); at >= 0 && len(troubles) > 0 {
			clauses = append(clauses, drainClause(in, drain, troubles, in.o.Machines.Value().Machines[at].DeletingSince))
		}
	}
	return observation.FirstOf(observation.SortTexts(clauses), "Machine", "Machines").Without(".")
}

func drainClause(in input, drain observation.Drain, troubles []observation.Text, since time.Time) observation.Text {
	clause := observation.Say(drain.Machine, " has been going since "+since.UTC().Format(time.RFC3339)+": ",
		observation.Join(troubles, "; "))
	force := since.Add(skipEviction(in))
	switch {
	case len(drain.Attachments) > 0 && in.o.Provider.Value().DetachesFirst:
		return clause.Also("the machine-controller deletes no instance while these VolumeAttachments exist")
	case len(drain.Pods) == 0:
		return clause
	case in.now.Before(force):
		return clause.Also("the machine-controller stops draining, and deletes the instance by force, at " +
			force.UTC().Format(time.RFC3339))
	}
	return clause.Also("the machine-controller has been free to go on by force since " +
		force.UTC().Format(time.RFC3339))
}

// troublesOf of one drain: pods by what holds them, finalizers, volumes.
func troublesOf(d observation.Drain) []observation.Text {
	var held, going, plain, troubles []observation.Text
	for _, pod := range d.Pods {
		name := pod.Namespace + "/" + pod.Name
		switch {
		case pod.Going && len(pod.Finalizers) > 0:
			going = append(going, observation.Say(name+" by finalizer "+strings.Join(pod.Finalizers, ", ")))
		case pod.Going:
			going = append(going, observation.Say(name))
		case pod.Budget != (observation.Ref{}):
			held = append(held, observation.Say(name+" by ", pod.Budget))
		default:
			plain = append(plain, observation.Say(name))
		}
	}
	for _, kind := range []struct {
		says  observation.Text
		names []observation.Text
	}{
		{observation.Say("these pods may not be evicted now: "), held},
		{observation.Say("these pods are going and not gone: "), going},
		{observation.Say("these pods are not evicted yet: "), plain},
		{observation.Say("finalizers of others: "), observation.Texts(d.Finalizers)},
		{observation.Say("VolumeAttachments of ", observation.NodeRef(d.Node), " that do not go: "), observation.Texts(d.Attachments)},
	} {
		if len(kind.names) > 0 {
			troubles = append(troubles, observation.Say(kind.says, observation.Names(kind.names)))
		}
	}
	return troubles
}

// waitsForMachines is a wait for Machines to be replaced or to go; when a drain forces, nothing wakes us.
func waitsForMachines(in input, message ...any) outcome.Outcome {
	return outcome.Waits(ucv1.WaitingForMachinesReason, observation.Say(message...).Also(drainTroubles(in)))
}
