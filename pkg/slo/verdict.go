package slo

import (
	"time"
)

// The objectives of KEP-2395, "Reasonable SLOs": 99 % of each within 60 s, and less than one error in 15 minutes.
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-cloud-provider/2395-removing-in-tree-cloud-providers
const (
	Objective   = time.Minute
	ErrorWindow = 15 * time.Minute
	// tolerated is the part, one in so many, that may miss the objective.
	tolerated = 100
)

// Indicator names one of the SLIs. The names are those of the KEP's metrics, in words.
type Indicator string

// The indicators.
const (
	// TaintRemoval is from when a Node is made until its taint uninitialized is gone.
	TaintRemoval Indicator = "TaintRemoval"
	// InitialSync is from when a Node is made until it has its providerID and addresses, too.
	InitialSync Indicator = "InitialNodeSync"
	// HostUpdate is from when a Node is initialized until one load balancer was updated.
	HostUpdate Indicator = "LoadBalancerHostUpdate"
	// NodeSync is from when a Node is initialized until all load balancers were.
	NodeSync Indicator = "NodeSync"
	// SyncErrors are load balancers that could not be updated.
	SyncErrors Indicator = "NodeSyncErrors"
)

// Indicators in the order in which they are shown.
func Indicators() []Indicator {
	return []Indicator{TaintRemoval, InitialSync, HostUpdate, NodeSync, SyncErrors}
}

// Verdict on an objective.
type Verdict string

// The verdicts.
const (
	Met          Verdict = "Met"
	Violated     Verdict = "Violated"
	Inconclusive Verdict = "Inconclusive"
)

// Counts of one indicator.
type Counts struct {
	// Within and Missed the objective; Unsure is what may have done either.
	Within, Missed, Unsure int
}

// Judge says whether 99 % were within the objective. What is unsure counts against both verdicts. With fewer than least samples
// nothing is met, and below a hundred a single one that missed is no proof: it may have been an accident of its machine.
func (c Counts) Judge(least int) Verdict {
	all := c.Within + c.Missed + c.Unsure
	switch {
	case c.Missed*tolerated > all && (c.Missed > 1 || all >= tolerated):
		return Violated
	case all >= max(least, 1) && (c.Missed+c.Unsure)*tolerated <= all:
		return Met
	}
	return Inconclusive
}

// JudgeErrors says whether there was less than one error in 15 minutes. since is from when errors were looked for; zero: they
// could not be.
func JudgeErrors(last, since, now time.Time) Verdict {
	switch {
	case !last.IsZero() && now.Sub(last) < ErrorWindow:
		return Violated
	case !since.IsZero() && now.Sub(since) >= ErrorWindow:
		return Met
	}
	return Inconclusive
}

// Worst is the verdict on all: one that is violated is, and all have to be met.
func Worst(verdicts ...Verdict) Verdict {
	worst := Met
	if len(verdicts) == 0 {
		worst = Inconclusive
	}
	for _, verdict := range verdicts {
		switch verdict {
		case Violated:
			return Violated
		case Inconclusive:
			worst = Inconclusive
		case Met:
		}
	}
	return worst
}
