package simtest

import (
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// begun is a time at which something was recorded: before, a Cluster that is made with the feature is one that was created with
// it.
func begun(at time.Duration) func(*World) bool {
	return func(w *World) bool { return w.Elapsed() >= at && w.Record != nil }
}

// returning deletes the Cluster at a time of the run, abandons it when it takes long to go, and applies it again a while later.
func returning(at, patience, away time.Duration) []Intervention {
	var since time.Duration
	waited := func(patience time.Duration) func(*World) bool {
		return func(w *World) bool { return w.Elapsed() >= since+patience }
	}
	return []Intervention{
		{Name: "deletes the Cluster", When: begun(at), Do: func(w *World) { DeleteCluster(w); since = w.Elapsed() }},
		{
			Name: "lets it go at once",
			When: func(w *World) bool { return Gone(w) || waited(patience)(w) },
			Do:   func(w *World) { Abandon(w); since = w.Elapsed() },
		},
		{Name: "applies it again", When: func(w *World) bool { return Gone(w) && waited(away)(w) }, Do: Return},
	}
}

// TestEverySeedKeepsTheRulesWhenTheClusterReturns deletes and applies, or restores without its status, the Cluster at any time of
// random worlds, twice.
func TestEverySeedKeepsTheRulesWhenTheClusterReturns(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for seed := range orders(uint64(*seedsFlag) / 4) {
		s, rng := randomScenario(seed), rand.New(rand.NewPCG(seed, 6))
		var people []Intervention
		for range 2 {
			at := time.Duration(rng.IntN(150)) * simulation.Tick
			patience := time.Duration(rng.IntN(3)*40) * simulation.Tick
			away := time.Duration(rng.IntN(30)) * simulation.Tick
			if rng.IntN(3) == 0 {
				people = append(
					people,
					Intervention{Name: "restores the Cluster without its status", When: begun(at), Do: DropStatus},
				)
				continue
			}
			people = append(people, returning(at, patience, away)...)
		}
		s.Interventions, s.MaxTicks = append(people, s.Interventions...), 4000
		transcript, err := Run(seed, s)
		g.Expect(checkRandom(transcript, err)).To(Succeed(), "seed %d\n%s", seed, transcript)
	}
}

// TestARecordIsNeverBehind kills the controller between the record and the status, at every fact, and restores the Cluster
// without its status then.
func TestARecordIsNeverBehind(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	plain, err := Run(1, HighlyAvailable())
	g.Expect(err).NotTo(HaveOccurred())
	for pass := range plain.Outcome.Passes {
		killed := false
		s := HighlyAvailable()
		s.MaxTicks = 2000
		s.KillAt = func(at int, point KillPoint, d migration.Decision) bool {
			now := !killed && at >= pass && point == BeforeStatus && d.Facts.Origin == ucv1.OriginMigrating
			killed = killed || now
			return now
		}
		s.Interventions = []Intervention{
			{
				Name: "restores the Cluster without its status",
				When: func(w *World) bool { return killed || Finished(w) },
				Do:   DropStatus,
			},
		}
		transcript, err := Run(uint64(pass), s)
		g.Expect(err).NotTo(HaveOccurred(), "pass %d\n%s", pass, transcript)
		g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
		g.Expect(transcript.Outcome.Replaced).To(Equal(5), transcript.String())
		g.Expect(transcript.Says("restores the Cluster")).To(BeTrue())
	}
}
