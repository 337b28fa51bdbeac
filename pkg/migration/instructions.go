package migration

import (
	"cmp"
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// A control plane that is not ours to change is changed by someone else, and the controller says what to change, in
// which order, and what it has seen done. The rows wait for the same post-conditions as where the controller changes it;
// nothing here weakens a proof.

// maxInstructions is the bound of status.instructions.
const maxInstructions = 60

// target is a part of a component that is changed by itself: the Deployment, or the static pod of one Node.
type target struct {
	component observation.Component
	// process is the static pod; zero for a Deployment.
	process observation.Process
	leads   bool
}

// targets are in the order in which they are to be changed: the leader comes last, so that the loops are served for as
// long as possible, and are without a manager for one restart only.
func targets(in input, component observation.Component) []target {
	if !in.Cluster.Spec.ControlPlane.Static() {
		return []target{{component: component}}
	}
	var targets []target
	for _, process := range component.Pods {
		if process.Ended {
			continue
		}
		one := component
		one.Arguments = process.Arguments
		targets = append(targets, target{component: one, process: process, leads: leads(in, process)})
	}
	slices.SortStableFunc(targets, func(a, b target) int {
		return cmp.Or(boolRank(a.leads)-boolRank(b.leads), strings.Compare(a.process.NodeName, b.process.NodeName))
	})
	return targets
}

// missingTargets are the Nodes that show no pod now, as while a kubelet puts another one in its place. They come first:
// the others have to wait for them.
func missingTargets(component observation.Component) []target {
	var targets []target
	for _, node := range component.Missing {
		targets = append(targets, target{component: component, process: observation.Process{NodeName: node}})
	}
	return targets
}

// runs says that the target came back after its change; a Deployment's pods are asked for by its rollout.
func (t target) runs() bool { return t.process.NodeName == "" || !t.process.RunningSince.IsZero() }

func boolRank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// leads says that the process holds KCM's Lease, as far as that can be told.
func leads(in input, process observation.Process) bool {
	lease, known := in.KCMLease.Get()
	return known && handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
}

// Reference is the Deployment, or the Node of the static pod.
func (t target) Reference() observation.Ref {
	if t.process.NodeName == "" {
		return t.component.Ref
	}
	return observation.NodeRef(t.process.NodeName)
}

// String names the target as its administrator knows it.
func (t target) String() string {
	if t.process.NodeName == "" {
		return t.component.String()
	}
	return t.component.Container + " on Node " + t.process.NodeName
}

// instructionList is the list of what is to be done, in its order.
type instructionList []ucv1.Instruction

// and adds what is to be done to the target; done says that this was seen, and proven.
func (list instructionList) and(t target, change outcome.ArgumentChange, done bool) instructionList {
	if len(list) == maxInstructions {
		return list
	}
	instruction := ucv1.Instruction{
		Order: int32(len(list) + 1), Component: t.component.Container, Object: t.component.String(), Node: t.process.NodeName,
		Leader: t.leads, Done: done,
	}
	if t.process.PodName != "" {
		instruction.Object = "Pod " + t.component.Namespace + "/" + t.process.PodName
	}
	for _, flag := range change.Set {
		instruction.Set = append(instruction.Set, flag.Name+"="+flag.Value)
	}
	for _, name := range change.Remove {
		instruction.Remove = append(instruction.Remove, "--"+name)
	}
	return append(list, instruction)
}

// with is the outcome with the list.
func (list instructionList) with(out outcome.Outcome) outcome.Outcome {
	out.Instructions = list
	return out
}

// loopsOffByOthers is the line LoopsOff where someone else changes KCM. That the loops are off is noted when they are off
// everywhere: on again, someone put them back. Until then some are still to be switched off.
func loopsOffByOthers(in input, kcm observation.Component) outcome.Outcome {
	recorded, left := in.Facts.Handover, loopsLeftOn(in, kcm)
	switch {
	case len(left.loud) == 0 && in.Facts.Origin == ucv1.OriginExternal:
		return outcome.Holds(ucv1.HoldsReason, "") // There never was anything to switch off.
	case len(left.loud) == 0 && recorded.LoopsOffAt == nil && len(kcm.Unseen) > 0:
		// Off everywhere else: what cannot be seen may still run them.
		return left.list.with(outcome.WaitsUntil(
			ucv1.ProvingSilenceReason, observation.Join(handover.Doubts(silence(in)), " "), 2*time.Second))
	case len(left.loud) == 0 && recorded.LoopsOffAt == nil:
		why := "Recording that the cloud loops are switched off in " + kcm.String() + "."
		return left.list.with(in.Records(why, func(facts *ucv1.Facts) {
			facts.Handover.LoopsOffAt = in.Stamp()
			facts.Handover.ChangingSince = cmp.Or(facts.Handover.ChangingSince, in.Stamp())
		}))
	case len(left.loud) == 0:
		return left.list.with(outcome.Holds(ucv1.HoldsReason, ""))
	case recorded.LoopsOffAt != nil:
		return left.list.with(contention(in, handover.Contended(kcm)))
	}
	return waitForLoopsOff(in, kcm, left)
}

// loopsLeft says how far others are with switching the loops off.
type loopsLeft struct {
	list instructionList
	// loud are the targets whose loops are still on, proving those that are changed and not proven yet.
	loud, proving []target
	// begun says that some target is changed.
	begun bool
}

func loopsLeftOn(in input, kcm observation.Component) (left loopsLeft) {
	silent := silentNodes(in, kcm)
	for _, t := range missingTargets(kcm) {
		left.list = left.list.and(t, outcome.ArgumentChange{}, false)
		left.proving = append(left.proving, t)
	}
	for _, t := range targets(in, kcm) {
		flag := loopsOffFlag(t.component.Arguments, in.Minor())
		change := outcome.ArgumentChange{Set: []outcome.Flag{flag}}
		off := !handover.MayRunLoops(observation.Process{Arguments: t.component.Arguments})
		if given, _ := t.component.Arguments.Flag("controllers"); off && given != flag.Value {
			change = outcome.ArgumentChange{} // They were switched off in another way, which is as good.
		}
		done := off && silent(t) && t.runs()
		left.list = left.list.and(t, change, done)
		switch {
		case !off:
			left.loud = append(left.loud, t)
		case !done:
			left.proving = append(left.proving, t)
		}
		left.begun = left.begun || off
	}
	return left
}

// instructionsOfHandover is the list of a hand-over that was begun while an earlier row waits: the rest has to follow.
func instructionsOfHandover(in input) []ucv1.Instruction {
	controlPlane, known := in.ControlPlane.Get()
	handover := in.Facts.Handover
	if !known || handover == nil || handover.ChangingSince == nil || handover.FinishedAt != nil {
		return nil
	}
	return loopsLeftOn(in, controlPlane.KCM).list
}

// waitForLoopsOff notes since when a part of KCM has had its loops off. Nothing is asked for while a Node is NotReady,
// unless it was begun: then the rest has to follow.
func waitForLoopsOff(in input, kcm observation.Component, left loopsLeft) outcome.Outcome {
	since := in.Facts.Handover.ChangingSince
	switch {
	case !left.begun && since != nil && len(kcm.Unseen) == 0:
		return left.list.with(in.Records("Recording that no part of KCM has its cloud loops off any more.",
			func(facts *ucv1.Facts) { facts.Handover.ChangingSince = nil }))
	case left.begun && since == nil:
		return left.list.with(in.Records("Recording that the cloud loops are switched off in the first part of KCM.",
			func(facts *ucv1.Facts) { facts.Handover.ChangingSince = in.Stamp() }))
	}
	if out := nodesReady(in); !out.Holds && !left.begun {
		return out
	}
	message := observation.Say("The cloud loops have to be switched off, one after the other, in ", inOrder(left.loud),
		", as status.instructions says.")
	if len(left.proving) > 0 {
		// The proof of those rests on time, which wakes no one.
		message = observation.Say(message, " Proving that what ran before has ended: ", observation.Names(left.proving), ".")
		return left.list.with(outcome.WaitsUntil(ucv1.WaitingForAdministratorReason, message, 2*time.Second))
	}
	return left.list.with(outcome.Waits(ucv1.WaitingForAdministratorReason, message))
}

// inOrder joins names in their order, bounded like those of named.
func inOrder(targets []target) observation.Text {
	texts := observation.Texts(targets)
	if rest := len(texts) - wording.MostNames; rest > 0 {
		return observation.Say(observation.Join(texts[:wording.MostNames], ", "), " and "+wording.Count(rest, "more", "more"))
	}
	return observation.Join(texts, ", ")
}

// silentNodes says of a target whether every process that was recorded on its Node is proven to have ended. For a
// Deployment its processes are proven all together, in the line Silent.
func silentNodes(in input, kcm observation.Component) func(target) bool {
	running := map[string]bool{}
	for _, process := range in.Facts.Handover.Processes {
		if process.EndedAt == nil {
			running[process.NodeName] = true
		}
	}
	return func(t target) bool {
		if t.process.NodeName == "" {
			return len(running) == 0 && kcm.RolledOut
		}
		return !running[t.process.NodeName]
	}
}

// everyTarget is everyComponent where someone else changes the control plane.
func everyTarget(
	in input,
	components []observation.Component,
	change func(observation.Component) (*outcome.ArgumentChange, string),
	held string,
) outcome.Outcome {
	var list instructionList
	var missing []target
	var rolling []observation.Text
	for _, component := range components {
		for _, t := range missingTargets(component) {
			list = list.and(t, outcome.ArgumentChange{}, false)
		}
		for _, t := range targets(in, component) {
			if !t.component.Arguments.Understood() {
				return list.with(outcome.Fails(ucv1.InputInvalidReason, t, ": "+t.component.Arguments.Problem))
			}
			arguments, _ := change(t.component)
			if arguments == nil {
				list = list.and(t, outcome.ArgumentChange{}, t.runs())
				continue
			}
			list = list.and(t, *arguments, false)
			missing = append(missing, t)
		}
		if !component.RolledOut {
			rolling = append(append(rolling, observation.Say(component, " is still rolling out.")), component.Unseen...)
		}
	}
	switch {
	case len(missing) > 0:
		return list.with(outcome.Waits(
			ucv1.WaitingForAdministratorReason,
			"The flags have to be changed, one after the other, in ", inOrder(missing), ", as status.instructions says.",
		))
	case len(rolling) > 0:
		return list.with(outcome.WaitsUntil(ucv1.RollingOutReason, observation.Join(rolling, " "), 5*time.Second))
	}
	return outcome.Holds(ucv1.HoldsReason, held)
}

// waitingSince is from when on no one may be running the cloud loops, or nil. Where someone else changes KCM that begins
// with its first part: until then its leader runs them, however long the administrator takes. From then on its leader may
// be one that does not: the one that does may restart at any time, and the rest has to follow within the deadline.
func waitingSince(in input) *time.Time {
	since := in.Facts.Handover.StartedAt
	if in.Cluster.Spec.ControlPlane.Instructed() && in.Facts.Origin != ucv1.OriginExternal &&
		in.Facts.Handover.ContendedAt == nil {
		since = in.Facts.Handover.ChangingSince
	}
	if since == nil {
		return nil
	}
	return &since.Time
}

// untouched says that nothing was done to KCM that would have to be brought to its end.
func untouched(in input) bool {
	return in.Facts.Handover == nil || in.Facts.Handover.StartedAt == nil || unchanged(in)
}

// unchanged says that no one has switched off a cloud loop yet, so that KCM goes on as before without us. Only what
// someone else changes can be left for long between the beginning of the hand-over and its first change.
func unchanged(in input) bool {
	controlPlane, known := in.ControlPlane.Get()
	handover := in.Facts.Handover
	if !known || !in.Cluster.Spec.ControlPlane.Instructed() || handover.ChangingSince != nil || handover.LoopsOffAt != nil ||
		!controlPlane.KCM.RolledOut {
		return false
	}
	return !slices.ContainsFunc(
		targets(in, controlPlane.KCM),
		func(t target) bool { return len(t.component.Arguments.CloudLoops()) == 0 },
	)
}

// staticProblem names what the static pods of KCM do not agree on: the CCM can inherit it once only.
func staticProblem(in input, kcm observation.Component) observation.Text {
	if !in.Cluster.Spec.ControlPlane.Static() || in.Facts.StartedAt != nil {
		return observation.Text{}
	}
	for _, name := range []string{"cloud-provider", "cluster-name", "cluster-cidr", "allocate-node-cidrs",
		"configure-cloud-routes", "leader-elect"} {
		for _, process := range kcm.Pods {
			if process.Ended || process.Arguments.Flags[name] == kcm.Arguments.Flags[name] {
				continue
			}
			pod := observation.Ref{Kind: "Pod", Namespace: kcm.Namespace, Name: process.PodName}
			return observation.Say(pod, " has another --"+name+" than others of ", kcm, "; give all Nodes the same manifest first.")
		}
	}
	return observation.Text{}
}

// staticMissing is kcmMissing for static pods.
func staticMissing(in input) observation.Text {
	container := in.Cluster.KubeControllerManager().Container
	return observation.Say("No Node of the user cluster shows a static pod with container " + container +
		" in namespace kube-system; set spec.controlPlane.kubeControllerManager.container to the one that runs " +
		"kube-controller-manager.")
}
