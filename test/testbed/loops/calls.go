package loops

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// CallOverlaps is what the cloud saw: one component still called for a loop
// after another one had begun to. A hand-over that was rolled back looks the same;
// look at the calls from before or after it.
func CallOverlaps(calls []simcloud.Call) []Overlap {
	byLoop := map[loopOf][]simcloud.Call{}
	for _, call := range inOrder(calls) {
		if slices.Contains(CloudLoops(), call.Loop) {
			key := loopOf{call.Cluster, call.Loop}
			byLoop[key] = append(byLoop[key], call)
		}
	}
	var found []Overlap
	for key, calls := range byLoop {
		found = append(found, interleaved(key, calls)...)
	}
	sortOverlaps(found)
	return found
}

// interleaved reports each pair of components once, with the first call of the
// later one and the last call of the earlier one.
func interleaved(key loopOf, calls []simcloud.Call) []Overlap {
	type activity struct{ first, last simcloud.Call }
	var components []*activity
	for _, call := range calls {
		at := slices.IndexFunc(components, func(a *activity) bool { return a.first.Component == call.Component })
		if at < 0 {
			components = append(components, &activity{first: call, last: call})
			continue
		}
		components[at].last = call
	}
	var found []Overlap
	for i, older := range components {
		for _, newer := range components[i+1:] {
			if older.last.Time.Before(newer.first.Time) {
				continue
			}
			found = append(found, Overlap{
				Cluster: key.cluster, Loop: key.loop,
				First:  Runner{older.last.Component, older.last.Instance},
				Second: Runner{newer.first.Component, newer.first.Instance},
				From:   newer.first.Time, To: older.last.Time,
			})
		}
	}
	return found
}

// LoadBalancerSummary is what became of a cluster's load balancers.
type LoadBalancerSummary struct {
	// Before is how many there were at the start, Kept how many of these were
	// never deleted since.
	Before int `json:"before"`
	Kept   int `json:"kept"`
	// Created and Deleted count what happened since the start.
	Created int `json:"created"`
	Deleted int `json:"deleted"`
}

// LoadBalancers sums up the calls of one cluster (see OfCluster); what is
// before start only tells what there was.
func LoadBalancers(calls []simcloud.Call, start time.Time) LoadBalancerSummary {
	calls = inOrder(calls)
	begin, _ := slices.BinarySearchFunc(calls, start, func(call simcloud.Call, at time.Time) int { return call.Time.Compare(at) })
	before := map[string]bool{}
	for _, call := range calls[:begin] {
		if created, deleted := change(call); created {
			before[call.Object] = true
		} else if deleted {
			delete(before, call.Object)
		}
	}
	summary := LoadBalancerSummary{Before: len(before)}
	for _, call := range calls[begin:] {
		if created, deleted := change(call); created {
			summary.Created++
		} else if deleted {
			summary.Deleted++
			delete(before, call.Object)
		}
	}
	summary.Kept = len(before)
	return summary
}

// change says what a call did to a load balancer; a call that failed did nothing.
func change(call simcloud.Call) (created, deleted bool) {
	if call.Error != "" {
		return false, false
	}
	switch call.Method {
	case simcloud.CreateLoadBalancer:
		return true, false
	case simcloud.EnsureLoadBalancerDeleted, simcloud.DeleteLoadBalancer:
		return false, true
	}
	return false, false
}

// inOrder sorts by when calls came: the log has them by when they ended.
func inOrder(calls []simcloud.Call) []simcloud.Call {
	return slices.SortedStableFunc(slices.Values(calls), func(a, b simcloud.Call) int { return a.Time.Compare(b.Time) })
}
