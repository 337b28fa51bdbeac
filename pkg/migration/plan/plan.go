package plan

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Plan of the migration of one cluster.
type Plan struct {
	// Cluster as namespace/name, and what it is.
	Cluster  string `json:"cluster"`
	Provider string `json:"provider"`
	Version  string `json:"version"`
	// Now says where the cluster stands, and what the plan does not wait for.
	Now string `json:"now"`
	// Digest and Summary are what the status keeps.
	Digest  string `json:"digest"`
	Summary string `json:"summary"`
	// Findings of preflight, in its order.
	Findings []observation.Finding `json:"findings"`
	// Protocol of the hand-over, and why.
	Protocol       ucv1.HandoverProtocol `json:"protocol,omitempty"`
	ProtocolReason string                `json:"protocolReason,omitempty"`
	// Outcome is where it ends when no person does anything.
	Outcome Outcome `json:"outcome"`
	// Actions in order.
	Actions []Action `json:"actions"`
	// Rollouts are the MachineDeployments that are rolled, in order.
	Rollouts []Rollout `json:"rollouts"`
	// Duration is an estimate.
	Duration Duration `json:"duration"`
	// PointOfNoReturn is where the migration can be rolled back no longer.
	PointOfNoReturn PointOfNoReturn `json:"pointOfNoReturn"`
	// Afterwards is what an operator finds different.
	Afterwards []Difference `json:"afterwards"`
	// Limits are what the plan cannot know.
	Limits []string `json:"limits"`
}

// OutcomeState says how the plan ends.
type OutcomeState string

// The outcomes.
const (
	// Finishes means that nothing is left to do in the end.
	Finishes OutcomeState = "Finishes"
	// Stalls means that a person has to act before it goes on.
	Stalls OutcomeState = "Stalls"
	// Waits means that it waits for what no one does by himself.
	Waits OutcomeState = "Waits"
)

// Outcome is where the plan ends.
type Outcome struct {
	State   OutcomeState `json:"state"`
	Step    ucv1.Step    `json:"step"`
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	// Instructions are what someone else has to change in the control plane before it goes on.
	Instructions []ucv1.Instruction `json:"instructions,omitempty"`
}

// FieldChange is a field with its values before and after. A value that is not there is empty, one that may be a secret masked.
type FieldChange struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// Operation says what an action does to an object.
type Operation string

// The actions.
const (
	Create Operation = "create"
	Change Operation = "change"
	Delete Operation = "delete"
)

// Object is one object of an action.
type Object struct {
	Object    string        `json:"object"`
	Operation Operation     `json:"operation"`
	Changes   []FieldChange `json:"changes,omitempty"`
	// Note says what is special, such as why a dry run cannot show the change.
	Note string `json:"note,omitempty"`
}

// Action is one thing that the controller will do.
type Action struct {
	// Number in the plan, from 1; 0: it is Conditional, and not counted.
	Number int                `json:"number,omitempty"`
	Step   ucv1.Step          `json:"step"`
	Stage  string             `json:"stage,omitempty"`
	Kind   outcome.ActionKind `json:"kind"`
	// Cluster is management or user.
	Cluster string   `json:"cluster"`
	Objects []Object `json:"objects,omitempty"`
	Why     string   `json:"why"`
	// Conditional says when the action is left out; empty: it never is.
	Conditional string `json:"conditional,omitempty"`
}

// Rollout is what happens to one MachineDeployment.
type Rollout struct {
	Object   string `json:"object"`
	Replicas int32  `json:"replicas"`
	// Machines that are replaced, in the order in which the machine-controller most likely takes them.
	Machines []string `json:"machines"`
	// Pods that have to move: those on its Nodes without mirror pods and pods of DaemonSets. Nil: they could not be looked at.
	Pods *int `json:"pods,omitempty"`
	// Disruption in a sentence.
	Disruption string `json:"disruption"`
	// Budgets are the PodDisruptionBudgets of pods on its Nodes.
	Budgets []Budget `json:"budgets,omitempty"`
	Seconds int64    `json:"seconds"`
}

// Budget is a PodDisruptionBudget as it bears on a rollout.
type Budget struct {
	Name    string `json:"name"`
	Pods    int    `json:"pods"`
	Allowed int32  `json:"disruptionsAllowed"`
}

// Duration is an estimate and what it rests on.
type Duration struct {
	Seconds int64  `json:"seconds"`
	Parts   []Part `json:"parts"`
}

// Part of the estimate. Basis says whether it was measured, set or assumed.
type Part struct {
	What    string `json:"what"`
	Seconds int64  `json:"seconds"`
	Basis   string `json:"basis"`
}

// PointOfNoReturn is where the migration can be rolled back no longer.
type PointOfNoReturn struct {
	// Passed says that the plan gets there; Action is the number of the last action before it.
	Passed bool      `json:"passed"`
	Step   ucv1.Step `json:"step,omitempty"`
	Action int       `json:"afterAction,omitempty"`
	Reason string    `json:"reason"`
}

// Difference is something that is another afterwards.
type Difference struct {
	What string `json:"what"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}
