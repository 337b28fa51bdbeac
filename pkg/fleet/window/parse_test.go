package window

import (
	"go/build"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/robfig/cron/v3"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func valid() ucv1.MaintenanceWindow {
	return ucv1.MaintenanceWindow{Name: "nights", Schedule: "0 22 * * 1-4", TimeZone: "Europe/Berlin", DurationSeconds: 3600}
}

func TestParseRefuses(t *testing.T) {
	schedule := func(text string) func(*ucv1.MaintenanceWindow) {
		return func(w *ucv1.MaintenanceWindow) { w.Schedule = text }
	}
	zone := func(name string) func(*ucv1.MaintenanceWindow) {
		return func(w *ucv1.MaintenanceWindow) { w.TimeZone = name }
	}
	const noZone = "is not known: write a name of the IANA database, such as Europe/Berlin"
	for name, test := range map[string]struct {
		change func(*ucv1.MaintenanceWindow)
		want   string
	}{
		"a macro":                           {schedule("@daily"), `schedule has a macro: write five fields, such as "0 22 * * 1-4"`},
		"a macro after a field":             {schedule("0 @daily * * *"), `schedule has a macro`},
		"a time zone in the schedule":       {schedule("CRON_TZ=UTC 0 22 * * *"), "schedule has a time zone: write it into timeZone"},
		"what the parser panics at":         {schedule("TZ=0"), "schedule has a time zone: write it into timeZone"},
		"no field":                          {schedule(""), "schedule has 0 fields: write minute, hour, day of month, month and day of week"},
		"four fields":                       {schedule("0 22 * *"), "schedule has 4 fields"},
		"seconds":                           {schedule("0 0 22 * * *"), "schedule has 6 fields"},
		"a minute that there is not":        {schedule("60 22 * * *"), `minute "60" of the schedule is not valid: write *, or 0 to 59, as a number, a list such as 1,3,`},
		"an hour that there is not":         {schedule("0 24 * * *"), `hour "24" of the schedule is not valid: write *, or 0 to 23`},
		"hours beyond midnight":             {schedule("0 22-2 * * *"), `hour "22-2" of the schedule is not valid`},
		"a day that there is not":           {schedule("0 22 0 * *"), `day of month "0" of the schedule is not valid: write *, or 1 to 31`},
		"a month that there is not":         {schedule("0 22 * 13 *"), `month "13" of the schedule is not valid: write *, or 1 to 12, or jan to dec`},
		"Sunday as 7":                       {schedule("0 22 * * 7"), `day of week "7" of the schedule is not valid: write *, or 0 (Sunday) to 6, or sun to sat`},
		"a field that matches nothing":      {schedule(", 22 * * *"), `minute "," of the schedule is not valid`},
		"no time zone":                      {zone(""), `time zone "" ` + noZone},
		"the machine's time zone":           {zone("Local"), `time zone "Local" ` + noZone},
		"the machine's time zone as a file": {zone("localtime"), `time zone "localtime" ` + noZone},
		"leap seconds":                      {zone("right/Europe/Berlin"), `time zone "right/Europe/Berlin" ` + noZone},
		"a place that there is not":         {zone("Mars/Phobos"), `time zone "Mars/Phobos" ` + noZone},
		"an offset":                         {zone("+01:00"), `time zone "+01:00" ` + noZone},
		"a path":                            {zone("/etc/localtime"), `time zone "/etc/localtime" ` + noZone},
		"a duration that is too short":      {func(w *ucv1.MaintenanceWindow) { w.DurationSeconds = 899 }, "durationSeconds is 899: write 900 to 604800"},
		"one that is too long":              {func(w *ucv1.MaintenanceWindow) { w.DurationSeconds = 604801 }, "durationSeconds is 604801: write 900 to 604800"},
		"less than nothing that remains": {
			func(w *ucv1.MaintenanceWindow) { w.MinRemainingSeconds = ptr.To[int32](-1) }, "minRemainingSeconds is -1: write 0 to 604800",
		},
		"more that remains than there is": {
			func(w *ucv1.MaintenanceWindow) { w.MinRemainingSeconds = ptr.To[int32](3601) },
			"minRemainingSeconds is 3601, but an opening has only 3600: write at most that",
		},
		"more that remains than a week": {
			func(w *ucv1.MaintenanceWindow) {
				w.Schedule, w.MinRemainingSeconds = "0 * * * *", ptr.To[int32](604801)
			},
			"minRemainingSeconds is 604801: write 0 to 604800",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			given := valid()
			test.change(&given)
			_, err := Parse(given)
			g.Expect(err).To(MatchError(HavePrefix(`window "nights": ` + test.want)))
			g.Expect(strings.Count(err.Error(), ". ")).To(BeZero())
		})
	}
}

func TestParseTakes(t *testing.T) {
	for name, change := range map[string]func(*ucv1.MaintenanceWindow){
		"the shortest":           func(w *ucv1.MaintenanceWindow) { w.DurationSeconds = 900 },
		"the longest":            func(w *ucv1.MaintenanceWindow) { w.DurationSeconds = 604800 },
		"names of days":          func(w *ucv1.MaintenanceWindow) { w.Schedule = "0 22 * jan,Feb mon-FRI" },
		"a question mark":        func(w *ucv1.MaintenanceWindow) { w.Schedule = "0 22 ? * 1" },
		"UTC":                    func(w *ucv1.MaintenanceWindow) { w.TimeZone = "UTC" },
		"an old name of a zone":  func(w *ucv1.MaintenanceWindow) { w.TimeZone = "US/Pacific" },
		"all of it that remains": func(w *ucv1.MaintenanceWindow) { w.MinRemainingSeconds = ptr.To[int32](3600) },
		"more that remains than one time opens it for": func(w *ucv1.MaintenanceWindow) {
			w.Schedule, w.MinRemainingSeconds = "0 20,21 * * *", ptr.To[int32](7200)
		},
		"more that remains than a day has, of one that goes on": func(w *ucv1.MaintenanceWindow) {
			w.Schedule, w.MinRemainingSeconds = "0 * * * *", ptr.To[int32](604800)
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := valid()
			change(&given)
			_, err := Parse(given)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
		})
	}
}

// TestSchedulesMeanWhatTheyMeanInCronJobs: on clocks that never change, the times are those that robfig's own Next finds.
func TestSchedulesMeanWhatTheyMeanInCronJobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seedFlag, 1))
	t.Logf("seed %d", *seedFlag)
	for range 300 {
		text := drawSchedule(rng).text
		w := window(t, text, "UTC", time.Hour)
		theirs, err := cron.ParseStandard(text)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred(), text)
		from := time.Date(2020+rng.IntN(20), 1, 1+rng.IntN(365), rng.IntN(24), rng.IntN(60), 0, 0, time.UTC)
		to := from.AddDate(0, 0, 40)
		var want, found []int64
		for at := theirs.Next(from.Add(-time.Second)); !at.IsZero() && at.Before(to); at = theirs.Next(at) {
			want = append(want, at.Unix())
		}
		w.schedule.runs = runsOf(w.schedule.times, -1)
		for at := range w.openings(from.Unix(), to.Unix()) {
			if at >= from.Unix() && at < to.Unix() {
				found = append(found, at)
			}
		}
		g.Expect(slices.Equal(found, want)).To(BeTrue(), "%s from %s: %d times, and %d of theirs", text, from, len(found), len(want))
	}
}

// TestTheBinaryHasTheZones: a machine of a test may have them itself, so the import is looked for.
func TestTheBinaryHasTheZones(t *testing.T) {
	g := NewWithT(t)
	pkg, err := build.ImportDir(".", 0)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pkg.Imports).To(ContainElement("time/tzdata"))
}

// FuzzParse: whatever someone writes is refused or can be looked at.
func FuzzParse(f *testing.F) {
	for _, schedule := range []string{"0 22 * * 1-4", "TZ=0", "@every 1s", ", , , , ,", "*/0 * * * *", "0 0 30 2 *", "*-/ ? 1/1 */9 sun"} {
		f.Add(schedule, "Europe/Berlin", int32(3600), int32(60), int64(1767225600))
	}
	f.Add("* * * * *", "Local", int32(604800), int32(-1), int64(-62135596800))
	f.Fuzz(func(t *testing.T, schedule, zone string, duration, remaining int32, at int64) {
		look(t, ucv1.MaintenanceWindow{
			Name: "nights", Schedule: schedule, TimeZone: zone, DurationSeconds: duration, MinRemainingSeconds: &remaining,
		}, time.Unix(at%(1<<40), 0))
	})
}

// look parses a window, and looks at one that is valid: what it says has to make sense.
func look(t *testing.T, of ucv1.MaintenanceWindow, now time.Time) (parsed bool) {
	t.Helper()
	g := NewWithT(t)
	w, err := Parse(of)
	if err != nil {
		g.Expect(err).To(MatchError(ContainSubstring("write ")))
		return false
	}
	state := w.At(now)
	if !state.Changes.IsZero() {
		g.Expect(state.Changes).To(And(BeTemporally(">", now), BeTemporally("<=", now.Add(Horizon))))
		g.Expect(w.At(state.Changes).Open).To(Equal(!state.Open))
	}
	if !state.LastStart.IsZero() || !state.Changes.IsZero() {
		g.Expect(state.LastStart.IsZero()).To(Equal(!state.Open))
	}
	return true
}

func TestParseNeverPanics(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seedFlag, 2))
	t.Logf("seed %d", *seedFlag)
	pieces := []string{
		"0", "1", "59", "60", "-", "/", ",", "*", "?", " ", " ", " ", " ", "\t", "sun", "JAN", "TZ=", "CRON_TZ=", "@", "@every ", "@daily",
		"UTC", "99999999999999999999", "9223372036854775807", "\x00", "\xff", "é", "L", "W", "#", "+1", "0x1", "%",
	}
	valid := 0
	for range 20000 {
		var text strings.Builder
		if rng.IntN(2) == 0 {
			for range rng.IntN(12) {
				text.WriteString(pieces[rng.IntN(len(pieces))])
			}
		} else {
			// What is almost a schedule gets further into the parser.
			whole := drawSchedule(rng).text
			at := rng.IntN(len(whole) + 1)
			text.WriteString(whole[:at] + pieces[rng.IntN(len(pieces))] + whole[min(at+rng.IntN(2), len(whole)):])
		}
		of := ucv1.MaintenanceWindow{Name: "nights", Schedule: text.String(), TimeZone: "Europe/Berlin", DurationSeconds: 3600}
		if look(t, of, time.Unix(rng.Int64N(4e9), 0)) {
			valid++
		}
	}
	NewWithT(t).Expect(valid).To(BeNumerically(">", 100), "valid schedules among them")
}
