package preflight

import (
	"fmt"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// someSkew is worth a word. More than the circuit breaker tolerates, and more than tokens do, blocks.
const (
	someSkew  = 30 * time.Second
	tokenSkew = 5 * time.Minute
)

func timeChecks() []check {
	return []check{{
		id: "ClockSkew", severity: observation.Blocking,
		means: "The clocks of the two clusters differ: deadlines of Machines, and the validity of tokens and certificates, are " +
			"judged wrongly.",
		unseen: func(o Facts) string { return unseen("the API server's clock", o.Server) }, find: clockSkew,
	}}
}

func clockSkew(o Facts, _ time.Time) []observation.Finding {
	skew := o.Server.Value().Skew
	if skew.Abs() < someSkew {
		return nil
	}
	direction := "ahead of"
	if skew < 0 {
		direction = "behind"
	}
	finding := observation.Finding{
		// A bound instead of the number, which ticks.
		Message: fmt.Sprintf("The clock of the user cluster's API server is more than %s %s ours.", someSkew, direction),
		Action:  "Synchronize the clocks of both clusters.", Severity: observation.Warning,
	}
	if wrong := max(someSkew, min(tokenSkew, o.Deadlines.OrReal().SkewTolerance(o.Cluster))); skew.Abs() >= wrong {
		finding.Message = fmt.Sprintf("The clock of the user cluster's API server is more than %s %s ours: Nodes and Machines would "+
			"miss their "+
			"deadlines, or never.", wrong, direction)
		finding.Severity = observation.Blocking
	}
	return []observation.Finding{finding}
}
