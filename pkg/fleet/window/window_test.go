package window

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return at
}

func window(t *testing.T, schedule, zone string, duration time.Duration) Window {
	t.Helper()
	w, err := Parse(ucv1.MaintenanceWindow{
		Name: "nights", Schedule: schedule, TimeZone: zone, DurationSeconds: int32(duration.Seconds()),
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return w
}

// hits are the instants of the schedule in a time, each as the local time that the clocks show then.
func hits(w Window, from, to time.Time) []string {
	var shown []string
	w.schedule.runs = runsOf(w.schedule.times, -1)
	for at := range w.openings(from.Unix(), to.Unix()) {
		if at >= from.Unix() && at < to.Unix() {
			shown = append(shown, time.Unix(at, 0).In(w.zone).Format("Mon 15:04 -07:00"))
		}
	}
	return shown
}

func TestTimesThatTheClocksSkipOrShowTwice(t *testing.T) {
	for name, test := range map[string]struct {
		schedule, zone, from, to string
		want                     []string
	}{
		"02:30 in New York in spring is 03:00, the end of the gap": {
			"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-09T12:00:00Z",
			[]string{"Sun 03:00 -04:00", "Mon 02:30 -04:00"},
		},
		"00:00 in Cairo in spring is 01:00": {
			"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-25T12:00:00Z",
			[]string{"Fri 01:00 +03:00", "Sat 00:00 +03:00"},
		},
		"01:30 in New York in autumn is the first one": {
			"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", "2026-11-02T12:00:00Z",
			[]string{"Sun 01:30 -04:00", "Mon 01:30 -05:00"},
		},
		"the hour that comes twice is there once": {
			"0 * * * *", "America/New_York", "2026-11-01T04:30:00Z", "2026-11-01T08:30:00Z",
			[]string{"Sun 01:00 -04:00", "Sun 02:00 -05:00", "Sun 03:00 -05:00"},
		},
		"half an hour is skipped on Lord Howe": {
			"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-05T00:00:00Z",
			[]string{"Sun 02:30 +11:00", "Mon 02:15 +11:00"},
		},
		"half an hour comes twice on Lord Howe": {
			"30,45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", "2026-04-05T12:00:00Z",
			[]string{"Sun 01:30 +11:00", "Sun 01:45 +11:00"},
		},
		"the day that Samoa skipped ends as it begins": {
			"0 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z",
			[]string{"Thu 09:00 -10:00", "Sat 00:00 +14:00", "Sat 09:00 +14:00"},
		},
		"the day that Kwajalein had twice is there once": {
			"0 9 * * *", "Pacific/Kwajalein", "1969-09-29T12:00:00Z", "1969-10-02T12:00:00Z",
			[]string{"Tue 09:00 +11:00", "Wed 09:00 -12:00"},
		},
		"the last day of a leap year is one as others": {
			"0 9 * * *", "America/New_York", "2028-12-30T00:00:00Z", "2029-01-02T00:00:00Z",
			[]string{"Sat 09:00 -05:00", "Sun 09:00 -05:00", "Mon 09:00 -05:00"},
		},
		"day of month or day of week, where both are set": {
			"0 9 13 * 5", "UTC", "2026-11-12T00:00:00Z", "2026-12-14T00:00:00Z",
			[]string{"Fri 09:00 +00:00", "Fri 09:00 +00:00", "Fri 09:00 +00:00", "Fri 09:00 +00:00", "Fri 09:00 +00:00", "Sun 09:00 +00:00"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := window(t, test.schedule, test.zone, time.Hour)
			NewWithT(t).Expect(hits(w, moment(t, test.from), moment(t, test.to))).To(Equal(test.want))
		})
	}
}

func TestAt(t *testing.T) {
	const berlin = "Europe/Berlin"
	for name, test := range map[string]struct {
		schedule, zone string
		duration       time.Duration
		at             string
		open           bool
		changes        string
	}{
		"closed until the evening":             {"0 22 * * *", berlin, 6 * time.Hour, "2026-01-14T12:00:00Z", false, "2026-01-14T21:00:00Z"},
		"open at its first instant":            {"0 22 * * *", berlin, 6 * time.Hour, "2026-01-14T21:00:00Z", true, "2026-01-15T03:00:00Z"},
		"closed just before it":                {"0 22 * * *", berlin, 6 * time.Hour, "2026-01-14T20:59:59.999999999Z", false, "2026-01-14T21:00:00Z"},
		"open beyond midnight":                 {"0 22 * * *", berlin, 6 * time.Hour, "2026-01-15T01:00:00Z", true, "2026-01-15T03:00:00Z"},
		"open until just before its end":       {"0 22 * * *", berlin, 6 * time.Hour, "2026-01-15T02:59:59.999999999Z", true, "2026-01-15T03:00:00Z"},
		"closed at its end":                    {"0 22 * * *", berlin, 6 * time.Hour, "2026-01-15T03:00:00Z", false, "2026-01-15T21:00:00Z"},
		"the day that it begins on decides":    {"0 22 * * 1-4", berlin, 6 * time.Hour, "2026-01-16T01:00:00Z", true, "2026-01-16T03:00:00Z"},
		"closed over the weekend":              {"0 22 * * 1-4", berlin, 6 * time.Hour, "2026-01-16T12:00:00Z", false, "2026-01-19T21:00:00Z"},
		"an hour more by the clock in spring":  {"0 0 * * *", berlin, 6 * time.Hour, "2026-03-28T23:00:00Z", true, "2026-03-29T05:00:00Z"},
		"overlapping ones are one":             {"0 20,22 * * *", berlin, 3 * time.Hour, "2026-01-14T19:30:00Z", true, "2026-01-15T00:00:00Z"},
		"touching ones are one":                {"0 20,22 * * *", berlin, 2 * time.Hour, "2026-01-14T19:30:00Z", true, "2026-01-14T23:00:00Z"},
		"and so is where they touch":           {"0 20,22 * * *", berlin, 2 * time.Hour, "2026-01-14T21:00:00Z", true, "2026-01-14T23:00:00Z"},
		"a second between them parts them":     {"0 20,22 * * *", berlin, 2*time.Hour - time.Second, "2026-01-14T19:30:00Z", true, "2026-01-14T20:59:59Z"},
		"days that touch are one":              {"0 12 * * 1-3", berlin, 24 * time.Hour, "2026-01-12T12:00:00Z", true, "2026-01-15T11:00:00Z"},
		"clocks that go back part a run":       {"0 1,2 * * *", "America/New_York", time.Hour, "2026-11-01T05:00:00Z", true, "2026-11-01T06:00:00Z"},
		"a gap joins what is apart":            {"0 2,4 * * *", "America/New_York", time.Hour, "2026-03-08T07:30:00Z", true, "2026-03-08T09:00:00Z"},
		"a year ends within it":                {"0 22 31 12 *", "America/New_York", 6 * time.Hour, "2029-01-01T04:00:00Z", true, "2029-01-01T09:00:00Z"},
		"seven days are open":                  {"0 0 1 * *", "UTC", 7 * 24 * time.Hour, "2026-01-07T23:59:59Z", true, "2026-01-08T00:00:00Z"},
		"always open":                          {"*/15 * * * *", berlin, 15 * time.Minute, "2026-01-14T12:00:00Z", true, ""},
		"always open, but for the hour twice":  {"*/15 * * * *", berlin, 15 * time.Minute, "2026-10-24T12:00:00Z", true, "2026-10-25T01:00:00Z"},
		"a week every week is always open":     {"0 0 * * 1", "UTC", 7 * 24 * time.Hour, "2026-01-14T12:00:00Z", true, ""},
		"a day that there is not":              {"0 0 30 2 *", berlin, time.Hour, "2026-01-14T12:00:00Z", false, ""},
		"a yearly one 40 days ahead":           {"0 0 23 2 *", "UTC", time.Hour, "2026-01-14T00:00:00Z", false, ""},
		"a yearly one 32 days ahead":           {"0 0 15 2 *", "UTC", time.Hour, "2026-01-14T00:00:00Z", false, "2026-02-15T00:00:00Z"},
		"a yearly one a second further":        {"0 0 15 2 *", "UTC", time.Hour, "2026-01-13T23:59:59Z", false, ""},
		"a leap day":                           {"0 0 29 2 *", "UTC", time.Hour, "2028-02-01T00:00:00Z", false, "2028-02-29T00:00:00Z"},
		"the end of an opening 32 days ahead":  {"0 0 1-10 3 *", "UTC", 7 * 24 * time.Hour, "2026-03-01T00:00:00Z", true, "2026-03-17T00:00:00Z"},
		"an opening that ends in exactly 32 d": {"0 0 1-26 3 *", "UTC", 7 * 24 * time.Hour, "2026-03-01T00:00:00Z", true, "2026-04-02T00:00:00Z"},
		"an opening that is longer":            {"0 0 1-27 3 *", "UTC", 7 * 24 * time.Hour, "2026-03-01T00:00:00Z", true, ""},
		"before 1970":                          {"0 22 * * *", "UTC", 6 * time.Hour, "1965-06-01T23:00:00Z", true, "1965-06-02T04:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			state := window(t, test.schedule, test.zone, test.duration).At(moment(t, test.at))
			want := State{Open: test.open}
			if test.changes != "" {
				want.Changes = moment(t, test.changes)
			}
			if test.open {
				want.LastStart = want.Changes
			}
			g.Expect(state).To(Equal(want))
		})
	}
}

func TestNothingOpensWithoutAWindow(t *testing.T) {
	NewWithT(t).Expect(Window{}.At(moment(t, "2026-01-14T12:00:00Z"))).To(Equal(State{}))
}

func TestMayStart(t *testing.T) {
	for name, test := range map[string]struct {
		schedule string
		at       string
		want     bool
	}{
		"enough is left":                          {"0 20,22 * * *", "2026-01-14T21:30:00Z", true},
		"exactly enough is left":                  {"0 20,22 * * *", "2026-01-14T22:30:00Z", true},
		"a nanosecond is missing":                 {"0 20,22 * * *", "2026-01-14T22:30:00.000000001Z", false},
		"it is closed":                            {"0 20,22 * * *", "2026-01-14T19:00:00Z", false},
		"it has just ended":                       {"0 20,22 * * *", "2026-01-15T00:00:00Z", false},
		"what is left counts by the merged one":   {"0 20,22 * * *", "2026-01-14T20:45:00Z", true},
		"one that is always open has enough left": {"0 * * * *", "2026-01-14T20:59:59Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w, err := Parse(ucv1.MaintenanceWindow{
				Name: "nights", Schedule: test.schedule, TimeZone: "UTC", DurationSeconds: 7200, MinRemainingSeconds: ptr.To[int32](5400),
			})
			g.Expect(err).NotTo(HaveOccurred())
			now := moment(t, test.at)
			g.Expect(w.At(now).MayStart(now)).To(Equal(test.want))
		})
	}
}

func BenchmarkAt(b *testing.B) {
	now := time.Date(2026, 10, 10, 12, 0, 0, 0, time.UTC)
	for name, of := range map[string]ucv1.MaintenanceWindow{
		"nightly":                {Schedule: "0 22 * * 1-4", DurationSeconds: 21600},
		"always open":            {Schedule: "*/15 * * * *", DurationSeconds: 900},
		"always open, by minute": {Schedule: "* * * * *", DurationSeconds: 7200},
		"never open":             {Schedule: "0 0 30 2 *", DurationSeconds: 900},
		"each half hour":         {Schedule: "0,30 * * * *", DurationSeconds: 900},
	} {
		of.Name, of.TimeZone = "nights", "America/New_York"
		w, err := Parse(of)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = w.At(now)
			}
		})
	}
}
