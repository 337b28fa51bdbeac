package fleet_test

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

func parse(of any) (string, float64) {
	field, ok := of.(*intstr.IntOrString)
	if !ok || field == nil {
		return "", 0
	}
	if field.Type == intstr.Int {
		return "n", float64(field.IntVal)
	}
	number, _ := strconv.ParseFloat(strings.TrimSuffix(field.StrVal, "%"), 64)
	return "%", number
}

func isZero(of *intstr.IntOrString) bool {
	return of != nil && (of.Type == intstr.Int && of.IntVal == 0 || of.StrVal == "0%")
}

func selecting(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

func limitOf(rng *rand.Rand, of ...string) *intstr.IntOrString {
	chosen := of[rng.IntN(len(of))]
	if chosen == "" {
		return nil
	}
	return new(intstr.Parse(chosen))
}

func (w *world) newMigration(selector *metav1.LabelSelector) {
	id := w.id("fm")
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{
		Name: id, UID: types.UID("uid-" + id), Generation: 1, CreationTimestamp: metav1.NewTime(w.now),
	}}
	s := &fm.Spec
	s.Mode, s.ClusterSelector = ucv1.FleetRun, selector
	s.Enablement = pick(w.rng, "", ucv1.EnablementRequested, ucv1.EnablementOnAdmission)
	for _, tier := range []string{"canary", "prod", "rest"} {
		wave := ucv1.Wave{
			Name: tier, ClusterSelector: selecting("tier", tier), Order: pick(w.rng, "", ucv1.SmallestFirst, ucv1.Alphabetical),
			MaxConcurrency: limitOf(w.rng, "", "1", "2", "5", "10%", "50%", "0"), MaxFailures: limitOf(w.rng, "", "0", "1", "20%", "100%"),
			MinSuccesses: limitOf(w.rng, "", "1", "50%", "100%"), SoakSeconds: new(int32(w.rng.IntN(1800))),
			MaxInconclusive: limitOf(w.rng, "", "", "50%"), Approval: pick(w.rng, "", "", ucv1.WaveApprovalRequired),
		}
		if w.chance(0.3) {
			wave.Canaries = new(int32(w.rng.IntN(3)))
		}
		s.Waves = append(s.Waves, wave)
	}
	if w.chance(0.5) {
		s.Budgets = append(s.Budgets, ucv1.FleetBudget{Name: "region", Per: "region", MaxConcurrency: new(int32(w.rng.IntN(4)))})
	}
	if w.chance(0.5) {
		s.Budgets = append(s.Budgets, ucv1.FleetBudget{Name: "nodes", MaxNodes: new(int32(w.rng.IntN(60)))})
	}
	if w.chance(0.3) {
		s.Maintenance.Windows = []ucv1.FleetWindow{
			{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "nights", Schedule: pick(w.rng, "0 22 * * *", "30 1 * * *", "0 */2 * * *"), TimeZone: "Europe/Berlin",
				DurationSeconds: int32(900 * (1 + w.rng.IntN(20))),
			}, InFlight: pick(w.rng, "", ucv1.HoldRollInFlight), ClusterSelector: pick(w.rng, nil, selecting("region", "a"))},
			{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "noon", Schedule: "0 12 * * *", TimeZone: "Asia/Kolkata", DurationSeconds: 3600, MinRemainingSeconds: new(int32(1200)),
			}},
		}
		from := w.now.Add(time.Duration(w.rng.IntN(300)) * time.Minute)
		s.Maintenance.Exclusions = []ucv1.FleetExclusion{{
			Name: "freeze", From: metav1.NewTime(from), To: metav1.NewTime(from.Add(time.Hour)), InFlight: ucv1.HoldRollInFlight,
		}}
	}
	if w.chance(0.3) {
		s.MaxStartsPerHour = new(int32(w.rng.IntN(6)))
	}
	s.OnHalt = pick(w.rng, "", ucv1.HoldRollInFlight)
	s.Failures.GraceSeconds, s.Failures.ProgressDeadlineSeconds = new(int32(60*w.rng.IntN(20))), new(int32(3600*(1+w.rng.IntN(4))))
	w.fms = append(w.fms, fm)
	w.say("%s is made: %+v", fm.Name, *s)
}

func newWorld(seed uint64, faulty bool) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC), faulty: faulty, attentive: true,
		admitted: map[string]bool{}, counted: map[string]string{}, again: map[string]bool{},
		killIn: -1,
	}
	w.policy = pick(w.rng, fleet.Required, fleet.Optional)
	for range 1 + w.rng.IntN(3) {
		w.newMigration(pick(w.rng, selecting(), selecting("team", "x"), selecting("team", "y")))
	}
	for range w.rng.IntN(40) {
		w.newCluster()
	}
	return w
}

func (w *world) run(rounds int) {
	for range rounds {
		w.now = w.now.Add(time.Minute)
		if w.faulty && w.chance(0.05) {
			w.person()
		}
		if w.attentive {
			w.attend()
		}
		for _, c := range w.clusters {
			w.step(c)
		}
		w.pass()
		w.checkTruth()
		if w.err != nil {
			return
		}
	}
}

var (
	seedFlag  = flag.Int("seed", -1, "replay one seed")
	seedsFlag = flag.Int("seeds", 60, "how many fleets to play")
)

// TestEveryFleetKeepsTheRules plays fleets with faults, people, stale caches, and a manager that is killed between any two writes.
// Replay a seed with go test ./pkg/fleet -run TestEveryFleetKeepsTheRules -v -args -seed N.
func TestEveryFleetKeepsTheRules(t *testing.T) {
	t.Parallel()
	first, end := 0, *seedsFlag
	if *seedFlag >= 0 {
		first, end = *seedFlag, *seedFlag+1
	}
	for seed := first; seed < end; seed++ {
		w := newWorld(uint64(seed), true)
		if w.run(500); w.err != nil {
			t.Fatalf("replay with -args -seed %d: %v\n%s", seed, w.err, w)
		}
		if *seedFlag >= 0 {
			t.Log(w)
		}
	}
}
