package forecast_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet/forecast"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// happened is what a forecast and a run have to agree on.
type happened struct{ Starts, Done, Opened, Passed map[string]time.Time }

func (w *world) happened() happened { return happened{w.starts, w.done, w.opened, w.passed} }

// told is the same as a forecast has it; what was before it is added.
func told(f forecast.Forecast, before happened) happened {
	h := happened{map[string]time.Time{}, map[string]time.Time{}, map[string]time.Time{}, map[string]time.Time{}}
	maps.Copy(h.Starts, before.Starts)
	for _, start := range f.Starts {
		h.Starts[start.Name] = start.At
		if !start.DoneAt.IsZero() {
			h.Done[start.Name] = start.DoneAt
		}
	}
	for _, wave := range f.Waves {
		if !wave.OpensAt.IsZero() {
			h.Opened[wave.Name] = wave.OpensAt
		}
		if !wave.PassesAt.IsZero() {
			h.Passed[wave.Name] = wave.PassesAt
		}
	}
	return h
}

// only what started in the forecast is compared by when it was done.
func (h happened) doneOf(f forecast.Forecast) happened {
	done := map[string]time.Time{}
	for _, start := range f.Starts {
		if at, is := h.Done[start.Name]; is {
			done[start.Name] = at
		}
	}
	h.Done = done
	return h
}

func (w *world) fleet() forecast.Fleet {
	of := forecast.Fleet{Members: append([]fleet.Member{}, w.members...)}
	for _, fm := range w.fms {
		of.Migrations = append(of.Migrations, fm.DeepCopy())
	}
	return of
}

// TestAForecastIsWhatHappens is property 20: the forecast of a FleetMigration in mode PlanOnly is what a run with the same
// durations does. The world of the run knows nothing of the forecast: it goes on minute by minute.
func TestAForecastIsWhatHappens(t *testing.T) {
	ended, waits := 0, 0
	for seed := range uint64(30) {
		w := draw(seed)
		of := w.fleet()
		of.Migrations[0].Spec.Mode = ucv1.FleetPlanOnly
		// The first minute of the world is the time of the forecast.
		made := forecast.Run(of, w.fms[0].Name, w.takes, w.now.Add(time.Minute))
		for range 25 * 24 * 60 {
			w.minute()
			if !made.EndsAt.IsZero() && w.now.After(made.EndsAt) || made.EndsAt.IsZero() && w.now.After(made.Waits.At.Add(12*time.Hour)) {
				break
			}
		}
		if diff := cmp.Diff(w.happened().doneOf(made), told(made, happened{})); diff != "" {
			t.Fatalf("seed %d: what happens differs from the forecast (-run +forecast):\n%s\n%+v\n%+v", seed, diff, made, w.fms[0].Spec)
		}
		if made.EndsAt.IsZero() {
			waits++
		} else {
			ended++
		}
	}
	if ended < 10 || waits < 3 {
		t.Errorf("the fleets show too little: %d end, %d wait for ever", ended, waits)
	}
}

// TestAForecastFromTheMiddle: what was done so far changes nothing of what comes. No roll is held here: how much of a hold a
// Cluster spent without anything to replace is known to no one afterwards.
func TestAForecastFromTheMiddle(t *testing.T) {
	for seed := range uint64(15) {
		w := draw(seed)
		for _, fm := range w.fms {
			fm.Spec.OnHalt = ""
			for i := range fm.Spec.Maintenance.Windows {
				fm.Spec.Maintenance.Windows[i].InFlight, fm.Spec.Maintenance.Exclusions[i].InFlight = "", ""
			}
		}
		for range 60 + 17*seed {
			w.minute()
		}
		before := happened{Starts: maps.Clone(w.starts)}
		made := forecast.Run(w.fleet(), w.fms[0].Name, w.takes, w.now)
		for range 25 * 24 * 60 {
			w.minute()
			if !made.EndsAt.IsZero() && w.now.After(made.EndsAt) || made.EndsAt.IsZero() && w.now.After(made.Waits.At.Add(12*time.Hour)) {
				break
			}
		}
		if diff := cmp.Diff(w.happened().doneOf(made), told(made, before)); diff != "" {
			t.Fatalf("seed %d: what happens differs from the forecast (-run +forecast):\n%s", seed, diff)
		}
	}
}

func TestAForecastLeavesAloneWhatItWasGiven(t *testing.T) {
	g := NewWithT(t)
	for seed := range uint64(30) {
		w := draw(seed)
		for range 5 * seed {
			w.minute()
		}
		of, again := w.fleet(), w.fleet()
		for i := range again.Members {
			again.Members[i].Admission = again.Members[i].Admission.DeepCopy()
		}
		first := forecast.Make(of, w.fms[0].Name, w.now)
		options := cmp.Options{cmpopts.IgnoreUnexported(fleet.Member{}), cmp.AllowUnexported(
			observation.Observed[int32]{}, observation.Observed[bool]{})}
		g.Expect(cmp.Diff(of, again, options)).To(BeEmpty(), "seed %d", seed)
		g.Expect(cmp.Diff(first, forecast.Make(of, w.fms[0].Name, w.now))).To(BeEmpty(), "seed %d: the same again", seed)
	}
}

func TestAFleetMigrationThatIsNotThereHasNoForecast(t *testing.T) {
	g := NewWithT(t)
	made := forecast.Make(draw(1).fleet(), "other", start())
	g.Expect(made.Starts).To(BeEmpty())
	g.Expect(made.Status()).To(BeNil())
}

func TestAHaltIsForEver(t *testing.T) {
	g := NewWithT(t)
	w := draw(3)
	w.fms[0].Status.Halt = &ucv1.FleetHalt{At: metav1.NewTime(start()), Reason: ucv1.MaxFailuresExceededReason, Clusters: []string{"user/x"}}
	made := forecast.Make(w.fleet(), w.fms[0].Name, w.now)
	g.Expect(made.EndsAt).To(BeZero())
	g.Expect(made.Waits.Reason).To(Equal(ucv1.FleetHaltedReason))
	g.Expect(forecast.StatusOf(w.fleet(), w.fms[0].Name, w.now)).To(BeNil())
}
