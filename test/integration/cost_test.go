package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
)

// What a finished cluster costs is paid for ever, and by each of a fleet. docs/operations.md has the numbers.
func TestAFinishedClusterCostsFewRequests(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the end", finished, "pool")
	w.expectIdle()
	mark, passes := w.user.markAudit(t), 0
	next := w.clock.Now()
	for range 120 {
		w.clock.Step(30 * time.Second)
		w.playLeaders()
		if w.clock.Now().Before(next) {
			continue
		}
		result := w.pass()
		next, passes = w.clock.Now().Add(result.RequeueAfter), passes+1
	}
	requests, byVerb := 0, map[string]int{}
	for _, event := range mark.since(t) {
		if event.Who() == "ccm-migration-controller" {
			requests++
			byVerb[kindOf(event)]++
		}
	}
	t.Logf("in an hour: %d passes, %d requests to the user cluster: %v", passes, requests, byVerb)
	g.Expect(passes).To(BeNumerically("<=", 8))
	g.Expect(requests).To(BeNumerically("<", 600))
}

func kindOf(event audit.Event) string {
	switch {
	case event.Dry():
		return "dry run"
	case event.Writes():
		return "review"
	}
	return event.Verb
}
