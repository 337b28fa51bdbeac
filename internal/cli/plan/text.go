package plan

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/plan"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
)

// planText prints the plan for people.
func planText(out io.Writer, made plan.Plan) error {
	text := &strings.Builder{}
	fmt.Fprintf(
		text,
		"Plan of Cluster %s (%s, Kubernetes %s)\n%s\n%s\nDigest %s\n",
		made.Cluster,
		made.Provider,
		made.Version,
		made.Now,
		made.Summary,
		made.Digest,
	)
	textFindings(text, made)
	textVerbs(text, made)
	textRollouts(text, made)
	fmt.Fprintf(text, "\nDURATION: about %s, when no person is waited for\n", lasting(made.Duration.Seconds))
	for _, part := range made.Duration.Parts {
		fmt.Fprintf(text, "  %8s  %s. %s\n", lasting(part.Seconds), part.What, part.Basis)
	}
	fmt.Fprintf(text, "\nPOINT OF NO RETURN\n  %s\n", turningPoint(made.PointOfNoReturn))
	fmt.Fprintln(text, "\nDIFFERENT AFTERWARDS")
	if len(made.Afterwards) == 0 {
		fmt.Fprintln(text, "  nothing")
	}
	for _, difference := range made.Afterwards {
		fmt.Fprintf(text, "  %s: %s -> %s\n", difference.What, shown(difference.From), shown(difference.To))
	}
	fmt.Fprintln(text, "\nWHAT THE PLAN CANNOT KNOW")
	for _, limit := range made.Limits {
		fmt.Fprintf(text, "  %s\n", limit)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func textFindings(text *strings.Builder, made plan.Plan) {
	fmt.Fprintln(text, "\nFINDINGS")
	if len(made.Findings) == 0 {
		fmt.Fprintln(text, "  none")
	}
	for _, finding := range made.Findings {
		fmt.Fprintf(text, "  %s (%s)\n    %s\n", finding.ID, finding.State(), start.TextOf(finding))
	}
	if made.Protocol != "" {
		fmt.Fprintf(text, "\nHAND-OVER by protocol %s: %s\n", made.Protocol, made.ProtocolReason)
	}
}

func textVerbs(text *strings.Builder, made plan.Plan) {
	fmt.Fprintln(text, "\nCHANGES in order")
	step := ""
	for _, action := range made.Actions {
		if string(action.Step) != step {
			step = string(action.Step)
			fmt.Fprintf(text, "  step %s\n", step)
		}
		fmt.Fprintf(
			text,
			"  %4s %s, %s cluster%s\n       %s\n",
			numbered(action),
			action.Kind,
			action.Cluster,
			onlyWhen(action),
			action.Why,
		)
		for _, object := range action.Objects {
			textObject(text, object)
		}
	}
	fmt.Fprintf(text, "  %s\n", ending(made.Outcome))
	for _, instruction := range made.Outcome.Instructions {
		fmt.Fprintf(text, "       %s %s: set %s; remove %s\n", instruction.Component, instruction.Node,
			shown(strings.Join(instruction.Set, " ")), shown(strings.Join(instruction.Remove, " ")))
		for _, file := range instruction.Files {
			fmt.Fprintf(text, "       %s %s: mount %s\n", instruction.Component, instruction.Node, file.Path)
		}
	}
}

// numbered is what a change is called in the list; one that may be left out is not counted.
func numbered(action plan.Action) string {
	if action.Number == 0 {
		return "-"
	}
	return strconv.Itoa(action.Number) + "."
}

func textObject(text *strings.Builder, object plan.Object) {
	fmt.Fprintf(text, "       %s %s\n", object.Operation, object.Object)
	for _, change := range object.Changes {
		fmt.Fprintf(text, "           %s: %s -> %s\n", change.Path, shown(change.From), shown(change.To))
	}
	if object.Note != "" {
		fmt.Fprintf(text, "         ! %s\n", object.Note)
	}
}

func textRollouts(text *strings.Builder, made plan.Plan) {
	fmt.Fprintln(text, "\nMACHINES in order")
	if len(made.Rollouts) == 0 {
		fmt.Fprintln(text, "  none")
	}
	for _, rollout := range made.Rollouts {
		fmt.Fprintf(
			text,
			"  %s: %d Machines, about %s. %s\n",
			rollout.Object,
			len(rollout.Machines),
			lasting(rollout.Seconds),
			rollout.Disruption,
		)
		fmt.Fprintf(text, "    %s\n", strings.Join(rollout.Machines, ", "))
		fmt.Fprintf(text, "    pods that move: %s\n", moving(rollout))
		for _, budget := range rollout.Budgets {
			fmt.Fprintf(text, "    PodDisruptionBudget %s: %d pods here, %d may go now\n", budget.Name, budget.Pods, budget.Allowed)
		}
	}
}

func moving(rollout plan.Rollout) string {
	if rollout.Pods == nil {
		return "could not look"
	}
	return fmt.Sprint(*rollout.Pods)
}

func onlyWhen(action plan.Action) string {
	if action.Conditional == "" {
		return ""
	}
	return ", " + action.Conditional
}

func ending(outcome plan.Outcome) string {
	switch outcome.State {
	case plan.Stalls:
		return fmt.Sprintf("It stops at step %s, and a person has to act: %s. %s", outcome.Step, outcome.Reason, outcome.Message)
	case plan.Waits:
		return fmt.Sprintf(
			"It waits at step %s for what the controller does not do: %s. %s",
			outcome.Step,
			outcome.Reason,
			outcome.Message,
		)
	case plan.Finishes:
	}
	return outcome.Message
}

func turningPoint(point plan.PointOfNoReturn) string {
	if !point.Passed {
		return point.Reason
	}
	where := "It is passed already."
	if point.Action > 0 {
		where = fmt.Sprintf("After change %d, at step %s.", point.Action, point.Step)
	}
	return where + " " + point.Reason
}

// lasting is a duration for people.
func lasting(seconds int64) string { return (time.Duration(seconds) * time.Second).String() }
