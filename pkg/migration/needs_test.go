package migration

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestNeedsOfEachStage: what is looked at too late is never seen, and what is looked at for ever costs requests.
func TestNeedsOfEachStage(t *testing.T) {
	for name, test := range map[string]struct {
		given func() Observation
		want  Needs
	}{
		"before the start":       {fresh, Needs{Preflight: true}},
		"in the hand-over":       {fenced, Needs{KCMLeaseRight: true, Proof: true}},
		"in the roll":            {rolling, Needs{Canary: true, KCMLeaseRight: true, Measurements: true, NodeAgents: true}},
		"when it is rolled back": {turningBack, Needs{Canary: true, KCMLeaseRight: true, Rollback: true, Proof: true, ClosedFence: true}},
		"when it is finished":    {finished, Needs{StorageClasses: true, Measurements: true, NodeAgents: true}},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.given()
			NewWithT(t).Expect(NeedsOf(o.Cluster, o.Provider.Value(), noon())).To(Equal(test.want))
		})
	}
}
