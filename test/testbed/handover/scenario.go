package handover

import (
	"context"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Result is how a hand-over ended.
type Result string

// The results. Unfinished is right for no scenario.
const (
	HandedOver Result = "HandedOver"
	RolledBack Result = "RolledBack"
	Refused    Result = "Refused"
	Stalled    Result = "Stalled"
	Unfinished Result = "Unfinished"
)

// Hosted is the topology in which KCM is a Deployment of the management cluster.
const Hosted = "Hosted"

// Scenario is one hand-over.
type Scenario struct {
	// Name of the scenario, of its folder and of its user cluster.
	Name  string
	Setup Setup
	// Disturb plays whoever disturbs, from the moment when the feature is switched on; it may be nil. The result is
	// waited for when it has returned.
	Disturb func(context.Context, *Play) error
	Want    Result
	Bars    Bars
	// Exclusive scenarios run alone, after the others: they measure, or disturb the manager.
	Exclusive bool
	// Slow scenarios wait for ten minutes; they run beside all others.
	Slow bool
	// CI runs it, too.
	CI bool
}

// Setup is how the user cluster begins.
type Setup struct {
	Protocol    ucv1.HandoverProtocolChoice
	KCMReplicas int32
	Lease       time.Duration
	// KCMFlags are added to KCM's.
	KCMFlags []string
	// Before is done before the Cluster object is made; it may be nil.
	Before func(context.Context, *Play) error
}

// Bars are the limits of a scenario; those that hold everywhere are not among them: no overlap, no load balancer made
// anew or deleted by mistake, no Node deleted by mistake, nothing lost.
type Bars struct {
	// Gap is the longest time without anybody who runs a loop; zero is no limit. It depends on the machine.
	Gap time.Duration
	// NothingOpened: the fence never opens.
	NothingOpened bool
	// Untouched: KCM's Deployment is not changed.
	Untouched bool
	// NoRoutes: nobody ever asks the cloud for a route.
	NoRoutes bool
	// CausedOverlap bounds an overlap that a person makes, between the events PersonBegins and PersonEnds.
	CausedOverlap time.Duration
}
