package simtest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

var update = flag.Bool("update", false, "write the golden transcripts again")

// TestStoriesReadAsTheyDid compares the transcripts of all stories with testdata/<name>.golden; -args -update writes them.
func TestStoriesReadAsTheyDid(t *testing.T) {
	t.Parallel()
	for _, story := range Stories() {
		t.Run(story.Name, func(t *testing.T) {
			g := NewWithT(t)
			var unnamed error
			transcript, err := Run(1, asked(story, &unnamed))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(unnamed).NotTo(HaveOccurred())
			g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished))
			file := filepath.Join("testdata", story.Name+".golden")
			if *update {
				g.Expect(os.WriteFile(file, []byte(transcript.String()), 0o600)).To(Succeed())
			}
			golden, err := os.ReadFile(filepath.Clean(file))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cmp.Diff(string(golden), transcript.String())).To(BeEmpty())
		})
	}
}

// TestStoriesEndWell tells every story in a hundred random orders.
func TestStoriesEndWell(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		story    func() Scenario
		replaced int
		says     []string
		origin   ucv1.Origin
	}{
		"a highly available cluster replaces each Machine once": {
			story: HighlyAvailable, replaced: 5, origin: ucv1.OriginMigrating,
		},
		"a cluster created with the feature rolls nothing": {
			story: CreatedWithFeature, origin: ucv1.OriginExternal,
		},
		"a paused MachineDeployment and a standalone Machine are named together": {
			story: OneOfEach, replaced: 3, origin: ucv1.OriginMigrating,
			says: []string{"STALLED BlockedMachines", "Machine kube-system/alone", "MachineDeployment kube-system/frozen is paused"},
		},
		"a cluster without Machines completes, and its first Node is initialized": {
			story: ZeroMachines, origin: ucv1.OriginMigrating, says: []string{"ccm: initializes Node"},
		},
		"a CCM that is too slow halts the roll until a person looks": {
			story:    SlowNodes,
			replaced: 5,
			origin:   ucv1.OriginMigrating,
			says:     []string{"STALLED SLOViolated", "took more than 1m0s", "at least 1m"},
		},
		"a CCM that sees other addresses than the kubelets is stopped before a Machine is touched": {
			story:    OtherAddresses,
			replaced: 5,
			origin:   ucv1.OriginMigrating,
			says:     []string{"STALLED NodeAddressesDiffer", "had InternalIP 10.0.0.1"},
		},
		"a controller that is killed after rolling rolls nothing twice": {
			story: KilledInTheMiddle, replaced: 5, origin: ucv1.OriginMigrating, says: []string{"controller: killed", "before its facts"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(100) {
				transcript, err := Run(seed, test.story())
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				outcome := transcript.Outcome
				g.Expect(outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
				g.Expect(outcome.Facts.Origin).To(Equal(test.origin))
				g.Expect(outcome.Facts.CompletedAt).NotTo(BeNil())
				g.Expect(outcome.Replaced).To(Equal(test.replaced))
				g.Expect(outcome.Created).To(BeZero())
				g.Expect(transcript.Says(test.says...)).To(BeTrue(), transcript.String())
			}
		})
	}
}

func TestZeroMachinesCompleteWithReasonNoNodes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	story := ZeroMachines()
	story.Interventions = nil
	transcript, err := Run(1, story)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(transcript.Outcome.Facts.CompletedAt).NotTo(BeNil())
	g.Expect(transcript.Outcome.Reasons).To(HaveKeyWithValue(ucv1.StepAddons, ucv1.NoNodesReason))
}

// orders is the number of random orders that a scenario is run in.
func orders(all uint64) uint64 {
	if testing.Short() {
		return all / 5
	}
	return all
}

// TestKilledAnywhere kills the controller once, between any two lines of any pass.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	plain, err := Run(1, HighlyAvailable())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, point := range []KillPoint{AfterDecide, WhileActing, BeforePersist} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			for pass := range plain.Outcome.Passes {
				killedOnce(t, pass, point)
			}
		})
	}
}

func killedOnce(t *testing.T, pass int, point KillPoint) {
	t.Helper()
	g, story, killed := NewWithT(t), HighlyAvailable(), false
	story.KillAt = func(at int, where KillPoint, _ migration.Decision) bool {
		now := !killed && at >= pass && where == point
		killed = killed || now
		return now
	}
	transcript, err := Run(uint64(pass), story)
	g.Expect(err).NotTo(HaveOccurred(), transcript.String())
	g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
	g.Expect(transcript.Outcome.Replaced).To(Equal(5), transcript.String())
}

func TestASeedReplays(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for seed := range uint64(20) {
		first, _ := Run(seed, randomScenario(seed))
		second, _ := Run(seed, randomScenario(seed))
		g.Expect(cmp.Diff(first.String(), second.String())).To(BeEmpty())
	}
}
