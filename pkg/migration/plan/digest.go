package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// approved is what a person approves: what is done to which objects, and where that ends. It has no time, no version of an
// object, no name of a Machine, a Node or a pod, no number of replicas, and not the order of MachineDeployments that rests on
// that: those change from minute to minute in a cluster that works.
type approved struct {
	Provider, Version, CCM, CSI string
	Protocol                    ucv1.HandoverProtocol
	Order                       ucv1.RolloutOrder
	Accepted                    []string
	Verbs                       []string
	Outcome                     string
	PointOfNoReturn             string
	Afterwards                  []Difference
}

func (p *Plan) digest(o observation.Observation) string {
	addons := o.Addons.Value()
	what := approved{
		Provider: p.Provider, Version: p.Version, CCM: addons.CCM.Version, CSI: addons.CSI.Version, Protocol: p.Protocol,
		Verbs: p.Sequence(), Outcome: string(p.Outcome.State) + " " + string(p.Outcome.Step) + " " + p.Outcome.Reason,
		PointOfNoReturn: string(p.PointOfNoReturn.Step),
	}
	what.Order = o.Cluster.Spec.Rollout.Order
	// Findings come and go with the health of pods and Nodes, and nothing starts while one blocks; what persons accept stays.
	for _, accepted := range o.Cluster.Spec.Preflight.Accept {
		what.Accepted = append(what.Accepted, accepted.ID+" "+strings.Join(accepted.Objects, ", "))
	}
	slices.Sort(what.Accepted)
	what.Verbs = withoutOrderOfRolls(what.Verbs)
	for _, difference := range p.Afterwards {
		if !strings.Contains(difference.What, "Machines and their Nodes") {
			what.Afterwards = append(what.Afterwards, difference)
		}
	}
	// Strings, and structs of strings, can always be encoded.
	data, _ := json.Marshal(what)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// withoutOrderOfRolls: the smallest is rolled first, and an autoscaler may have changed which that is.
func withoutOrderOfRolls(lines []string) []string {
	isRoll := func(line string) bool {
		return strings.HasPrefix(line, string(outcome.ActionRollMachineDeployment)+" ")
	}
	first := slices.IndexFunc(lines, isRoll)
	if first < 0 {
		return lines
	}
	var rolls, others []string
	for _, line := range lines[first:] {
		if isRoll(line) {
			rolls = append(rolls, line)
		} else {
			others = append(others, line)
		}
	}
	slices.Sort(rolls)
	return slices.Concat(lines[:first], rolls, others)
}

// Sequence is what will be done, one line for each action and its objects, in an order and a form in which what was done can be
// compared with it: without what is only done when it is needed, and each MachineDeployment by itself. What goes on beside the
// roll comes last, sorted: no one can know before between which others.
func (p *Plan) Sequence() []string {
	var lines, beside []string
	for _, action := range p.Actions {
		if action.Conditional != "" || action.Kind == outcome.ActionStepMachineSet {
			continue // How often a MachineSet is lowered rests on when its successors are proven.
		}
		if into, apart := map[outcome.ActionKind]*[]string{
			outcome.ActionRollMachineDeployment: &lines,
			outcome.ActionRemoveCanary:          &beside, outcome.ActionReturnMinReady: &beside,
		}[action.Kind]; apart {
			for _, object := range action.Objects {
				*into = append(*into, Line(string(action.Kind), []string{object.text()}))
			}
			continue
		}
		texts := make([]string, 0, len(action.Objects))
		for _, object := range action.Objects {
			texts = append(texts, object.text())
		}
		lines = append(lines, Line(string(action.Kind), texts))
	}
	slices.Sort(beside)
	return append(lines, beside...)
}

// Line is one line of a sequence.
func Line(kind string, objects []string) string {
	if kind == string(outcome.ActionTakeBaseline) {
		objects = nil // Its name is the digest of an inventory.
	}
	objects = slices.Sorted(slices.Values(objects))
	return strings.TrimSpace(kind + " " + strings.Join(objects, ", "))
}

// text is the object with what is changed in it.
func (o Object) text() string {
	text := []string{o.Object}
	for _, change := range o.Changes {
		if change.Path != forceRestartPath {
			text = append(text, change.Path+"="+change.From+">"+change.To)
		}
	}
	return strings.Join(text, " ")
}
