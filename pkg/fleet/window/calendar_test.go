package window

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// fleet has two windows, of which the second asks for an hour, and two exclusions that overlap.
func fleet(t *testing.T, change func(*ucv1.FleetMaintenance)) Calendar {
	t.Helper()
	of := ucv1.FleetMaintenance{
		Windows: []ucv1.FleetWindow{
			{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "evenings", Schedule: "0 18 * * *", TimeZone: "UTC", DurationSeconds: 4 * 3600,
			}},
			{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "nights", Schedule: "0 20 * * *", TimeZone: "UTC", DurationSeconds: 6 * 3600, MinRemainingSeconds: ptr.To[int32](3600),
			}, InFlight: ucv1.HoldRollInFlight},
		},
		Exclusions: []ucv1.FleetExclusion{
			exclude(t, "fair", "2026-11-23T00:00:00Z", "2026-11-25T00:00:00Z", ""),
			exclude(t, "black-friday", "2026-11-24T21:00:00Z", "2026-12-01T00:00:00Z", ucv1.HoldRollInFlight),
		},
	}
	if change != nil {
		change(&of)
	}
	c, err := NewCalendar(of)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return c
}

func exclude(t *testing.T, name, from, to string, policy ucv1.InFlightPolicy) ucv1.FleetExclusion {
	t.Helper()
	return ucv1.FleetExclusion{
		Name: name, From: metav1.NewTime(moment(t, from)), To: metav1.NewTime(moment(t, to)), InFlight: policy,
	}
}

func TestFor(t *testing.T) {
	both, evenings, nights := []int{0, 1}, []int{0}, []int{1}
	const nanosecond = time.Nanosecond
	for name, test := range map[string]struct {
		at       string
		selected []int
		want     Verdict
		// next is the time of the NextChange, and late what it is after it.
		next string
		late time.Duration
	}{
		"closed by day": {"2026-11-10T12:00:00Z", both, Verdict{HoldRoll: true}, "2026-11-10T18:00:00Z", 0},
		"one is open": {
			"2026-11-10T19:00:00Z", both, Verdict{Open: true, MayStart: true, Windows: []string{"evenings"}}, "2026-11-10T20:00:00Z", 0,
		},
		"both are open": {
			"2026-11-10T21:00:00Z", both, Verdict{Open: true, MayStart: true, Windows: []string{"evenings", "nights"}}, "2026-11-10T22:00:00Z", 0,
		},
		"enough is left": {
			"2026-11-10T22:00:00Z", both, Verdict{Open: true, MayStart: true, Windows: []string{"nights"}}, "2026-11-11T01:00:00Z", nanosecond,
		},
		"exactly enough is left": {
			"2026-11-11T01:00:00Z", both, Verdict{Open: true, MayStart: true, Windows: []string{"nights"}}, "2026-11-11T01:00:00Z", nanosecond,
		},
		"too little is left": {
			"2026-11-11T01:00:01Z", both, Verdict{Open: true, Windows: []string{"nights"}}, "2026-11-11T02:00:00Z", 0,
		},
		"a closed window of another Cluster holds no roll": {"2026-11-10T12:00:00Z", evenings, Verdict{}, "2026-11-10T18:00:00Z", 0},
		"an open window of another Cluster opens nothing": {
			"2026-11-10T19:00:00Z", nights, Verdict{HoldRoll: true}, "2026-11-10T20:00:00Z", 0,
		},
		"no window selects the Cluster": {"2026-11-10T21:00:00Z", nil, Verdict{NoWindow: true}, "2026-11-23T00:00:00Z", 0},
		"an exclusion that begins within the hour ends the window": {
			"2026-11-22T23:00:01Z", nights, Verdict{Open: true, Windows: []string{"nights"}}, "2026-11-23T00:00:00Z", 0,
		},
		"there is just time before the exclusion": {
			"2026-11-22T23:00:00Z", nights, Verdict{Open: true, MayStart: true, Windows: []string{"nights"}}, "2026-11-22T23:00:00Z", nanosecond,
		},
		"an exclusion later than the end of the window leaves it alone": {
			"2026-11-22T00:30:00Z", nights, Verdict{Open: true, MayStart: true, Windows: []string{"nights"}}, "2026-11-22T01:00:00Z", nanosecond,
		},
		"an exclusion closes what is open, and lets rolls go on": {
			"2026-11-23T00:00:00Z", nights, Verdict{Exclusion: "fair", Windows: []string{"nights"}}, "2026-11-23T01:00:00Z", nanosecond,
		},
		"in an exclusion, closed windows hold as ever": {
			"2026-11-23T12:00:00Z", nights, Verdict{Exclusion: "fair", HoldRoll: true}, "2026-11-23T20:00:00Z", 0,
		},
		"an exclusion holds rolls, whatever is open": {
			"2026-11-25T19:00:00Z", evenings, Verdict{Exclusion: "black-friday", HoldRoll: true, Windows: []string{"evenings"}},
			"2026-11-25T22:00:00Z", 0,
		},
		"of two exclusions, the one that ends last is named, and any may hold": {
			"2026-11-24T21:30:00Z", evenings, Verdict{Exclusion: "black-friday", HoldRoll: true, Windows: []string{"evenings"}},
			"2026-11-24T22:00:00Z", 0,
		},
		"an exclusion has ended at its end": {"2026-12-01T00:00:00Z", evenings, Verdict{}, "2026-12-01T18:00:00Z", 0},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.NextChange = moment(t, test.next).Add(test.late)
			NewWithT(t).Expect(fleet(t, nil).At(moment(t, test.at)).For(test.selected)).To(Equal(test.want))
		})
	}
}

func TestWithoutWindows(t *testing.T) {
	g := NewWithT(t)
	c := fleet(t, func(of *ucv1.FleetMaintenance) { of.Windows = nil })
	g.Expect(c.At(moment(t, "2026-11-10T12:00:00Z")).For(nil)).To(Equal(
		Verdict{Open: true, MayStart: true, NextChange: moment(t, "2026-11-23T00:00:00Z")}), "open until the next exclusion")
	g.Expect(c.At(moment(t, "2026-11-23T12:00:00Z")).For(nil)).To(Equal(
		Verdict{Exclusion: "fair", NextChange: moment(t, "2026-11-24T21:00:00Z")}))
	g.Expect(c.At(moment(t, "2026-11-30T12:00:00Z")).For(nil)).To(Equal(
		Verdict{Exclusion: "black-friday", HoldRoll: true, NextChange: moment(t, "2026-12-01T00:00:00Z")}))
	g.Expect(Calendar{}.At(moment(t, "2026-11-10T12:00:00Z")).For(nil)).To(Equal(Verdict{Open: true, MayStart: true}))
}

func TestMomentOfAFleet(t *testing.T) {
	g := NewWithT(t)
	m := fleet(t, nil).At(moment(t, "2026-11-22T21:00:00Z"))
	g.Expect(m.NextChange).To(Equal(moment(t, "2026-11-22T22:00:00Z")))
	g.Expect(m.Exclusion).To(BeEmpty())
	g.Expect(m.Windows).To(Equal([]Seen{
		{Name: "evenings", State: State{
			Open: true, Changes: moment(t, "2026-11-22T22:00:00Z"), LastStart: moment(t, "2026-11-22T22:00:00Z"),
		}},
		{Name: "nights", State: State{
			Open: true, Changes: moment(t, "2026-11-23T02:00:00Z"), LastStart: moment(t, "2026-11-22T23:00:00Z"),
		}, holdsRoll: true},
	}))
	g.Expect(fleet(t, nil).At(moment(t, "2026-11-23T00:00:00Z")).Exclusion).To(Equal("fair"))

	far := fleet(t, func(of *ucv1.FleetMaintenance) {
		of.Windows[0].Schedule, of.Windows = "0 0 25 12 *", of.Windows[:1]
		of.Exclusions = []ucv1.FleetExclusion{exclude(t, "easter", "2027-03-26T00:00:00Z", "2027-03-30T00:00:00Z", "")}
	})
	g.Expect(far.At(moment(t, "2026-11-10T00:00:00Z")).NextChange).To(BeZero(), "a window may open before that exclusion")
	g.Expect(far.At(moment(t, "2026-11-10T00:00:00Z")).For([]int{0}).NextChange).To(BeZero())

	long := fleet(t, func(of *ucv1.FleetMaintenance) {
		of.Windows[1].Schedule, of.Windows[1].DurationSeconds = "0 0 1-27 12 *", 604800
		of.Windows[1].MinRemainingSeconds, of.Exclusions = ptr.To[int32](604800), nil
	}).At(moment(t, "2026-12-01T00:00:00Z"))
	g.Expect(long.Windows[1].State).To(Equal(State{Open: true, LastStart: moment(t, "2026-12-27T00:00:00Z")}))
	g.Expect(long.For([]int{1}).NextChange).To(Equal(moment(t, "2026-12-27T00:00:00.000000001Z")), "the end is beyond the Horizon")

	always := fleet(t, func(of *ucv1.FleetMaintenance) {
		of.Windows[1].Schedule, of.Exclusions = "0 * * * *", of.Exclusions[:1]
	})
	g.Expect(always.At(moment(t, "2026-11-22T22:59:59Z")).For([]int{1}).MayStart).To(BeTrue())
	g.Expect(always.At(moment(t, "2026-11-22T23:00:01Z")).For([]int{1}).MayStart).To(BeFalse(), "one without an end, too")
}

func TestNewCalendarRefuses(t *testing.T) {
	times := func(from, to string) ucv1.FleetMaintenance {
		return ucv1.FleetMaintenance{Exclusions: []ucv1.FleetExclusion{exclude(t, "fair", from, to, "")}}
	}
	const order = `exclusion "fair": from is not before to: write two times, such as 2026-11-23T00:00:00Z and 2026-12-01T00:00:00Z`
	for name, test := range map[string]struct {
		of   ucv1.FleetMaintenance
		want string
	}{
		"an exclusion the wrong way around": {times("2026-11-23T00:00:00Z", "2026-11-22T00:00:00Z"), order},
		"an exclusion of no time":           {times("2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z"), order},
		"an exclusion without times":        {ucv1.FleetMaintenance{Exclusions: []ucv1.FleetExclusion{{Name: "fair"}}}, order},
		"an exclusion without a begin": {ucv1.FleetMaintenance{Exclusions: []ucv1.FleetExclusion{
			{Name: "fair", To: metav1.NewTime(moment(t, "2026-11-23T00:00:00Z"))},
		}}, order},
		"a window": {
			ucv1.FleetMaintenance{Windows: []ucv1.FleetWindow{{MaintenanceWindow: ucv1.MaintenanceWindow{Name: "nights", Schedule: "TZ=0"}}}},
			`window "nights": schedule has a time zone: write it into timeZone`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewCalendar(test.of)
			NewWithT(t).Expect(err).To(MatchError(test.want))
		})
	}
}

func TestAPolicyOfALaterVersionHolds(t *testing.T) {
	c := fleet(t, func(of *ucv1.FleetMaintenance) { of.Windows[0].InFlight = "Stop" })
	NewWithT(t).Expect(c.At(moment(t, "2026-11-10T12:00:00Z")).For([]int{0}).HoldRoll).To(BeTrue())
}

// TestNothingChangesBeforeNextChange: whoever sleeps until then misses nothing.
func TestNothingChangesBeforeNextChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seedFlag, 4))
	t.Logf("seed %d", *seedFlag)
	for round := range 1000 {
		c, places := drawCalendar(t, rng)
		selected := rng.Perm(places)[:rng.IntN(places+1)]
		now := time.Date(2026, 1, 1+rng.IntN(365), 0, 0, rng.IntN(86400), rng.IntN(1e9), time.UTC)
		for range 20 {
			verdict := c.At(now).For(selected)
			end := verdict.NextChange
			if end.IsZero() {
				end = now.Add(Horizon)
			}
			NewWithT(t).Expect(end).To(And(BeTemporally(">", now), BeTemporally("<=", now.Add(Horizon))))
			for _, later := range []time.Time{now.Add(time.Duration(rng.Int64N(int64(end.Sub(now))))), end.Add(-1)} {
				then := c.At(later).For(selected)
				then.NextChange = verdict.NextChange
				NewWithT(t).Expect(then).To(Equal(verdict), "round %d: at %s as at %s", round, later, now)
			}
			now = end
		}
	}
}

func drawCalendar(t *testing.T, rng *rand.Rand) (c Calendar, windows int) {
	t.Helper()
	zones := []string{"UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}
	policies := []ucv1.InFlightPolicy{"", ucv1.ContinueInFlight, ucv1.HoldRollInFlight}
	var of ucv1.FleetMaintenance
	for i := range rng.IntN(4) {
		duration := 900 + rng.Int32N(2*86400)
		of.Windows = append(of.Windows, ucv1.FleetWindow{MaintenanceWindow: ucv1.MaintenanceWindow{
			Name: fmt.Sprintf("window-%d", i), Schedule: drawSchedule(rng).text, TimeZone: zones[rng.IntN(len(zones))],
			DurationSeconds: duration, MinRemainingSeconds: new(rng.Int32N(duration + 1)),
		}, InFlight: policies[rng.IntN(len(policies))]})
	}
	for i := range rng.IntN(4) {
		from := time.Date(2026, 1, 1+rng.IntN(365), 0, 0, rng.IntN(86400), 0, time.UTC)
		of.Exclusions = append(of.Exclusions, ucv1.FleetExclusion{
			Name: fmt.Sprintf("exclusion-%d", i), From: metav1.NewTime(from),
			To: metav1.NewTime(from.Add(time.Duration(1 + rng.Int64N(int64(20*24*time.Hour))))), InFlight: policies[rng.IntN(len(policies))],
		})
	}
	c, err := NewCalendar(of)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return c, len(of.Windows)
}

// BenchmarkFleet is what a pass over 5,000 Clusters costs with the most windows and exclusions that there may be.
func BenchmarkFleet(b *testing.B) {
	of := ucv1.FleetMaintenance{}
	now := time.Date(2026, 10, 10, 20, 30, 0, 0, time.UTC)
	for i := range 32 {
		of.Windows = append(of.Windows, ucv1.FleetWindow{MaintenanceWindow: ucv1.MaintenanceWindow{
			Name: fmt.Sprintf("window-%d", i), Schedule: fmt.Sprintf("%d 22 * * 1-6", i), TimeZone: "Europe/Berlin", DurationSeconds: 21600,
		}})
	}
	for i := range 64 {
		from := metav1.NewTime(now.AddDate(0, 0, 1+i))
		of.Exclusions = append(of.Exclusions, ucv1.FleetExclusion{
			Name: fmt.Sprintf("exclusion-%d", i), From: from, To: metav1.NewTime(from.Add(time.Hour)),
		})
	}
	c, err := NewCalendar(of)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m := c.At(now)
		for i := range 5000 {
			_ = m.For([]int{i % 32, (i + 1) % 32})
		}
	}
}
