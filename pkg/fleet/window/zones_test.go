package window

import (
	"archive/zip"
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

var (
	seedFlag = flag.Uint64("seed", 1, "draws the schedules and times that windows are compared with the scan by")
	// In 2028, a leap year, most zones only have rules, and no list of changes.
	yearFlag = flag.Int("year", 2028, "year in which all zones are scanned")
)

// zoneNames are those of the IANA database that the Go toolchain has, and time/tzdata is made of.
func zoneNames(t *testing.T) []string {
	t.Helper()
	g := NewWithT(t)
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	g.Expect(err).NotTo(HaveOccurred())
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = archive.Close() }()
	var names []string
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") {
			names = append(names, file.Name)
		}
	}
	g.Expect(len(names)).To(BeNumerically(">", 500))
	return names
}

// behavior is all that clocks do in a time: when which offset begins. Zones that have the same show the same at any minute. An
// offset that lasts less than 20 minutes would not be found; there never was one.
func behavior(zone *time.Location, from, to int64) string {
	offset := func(at int64) int {
		_, offset := time.Unix(at, 0).In(zone).Zone()
		return offset
	}
	var text strings.Builder
	known := offset(from)
	fmt.Fprint(&text, known)
	for at := from; at < to; at += 1200 {
		if next := offset(at + 1200); next != known {
			low, high := at, at+1200
			for high-low > 1 {
				if middle := (low + high) / 2; offset(middle) == known {
					low = middle
				} else {
					high = middle
				}
			}
			known = next
			fmt.Fprint(&text, " ", high, " ", known)
		}
	}
	return text.String()
}

// values of a field that were drawn, and the text that means them.
type values struct {
	text string
	has  [60]bool
	// any says that the text is a star: such a day leaves the decision to the other one.
	any bool
}

func drawValues(rng *rand.Rand, first, last int) values {
	low, high := first+rng.IntN(last-first+1), first+rng.IntN(last-first+1)
	low, high = min(low, high), max(low, high)
	var v values
	fill := func(from, to, step int) {
		for i := from; i <= to; i += step {
			v.has[i] = true
		}
	}
	switch rng.IntN(5) {
	case 0:
		v.text, v.any = "*", true
		fill(first, last, 1)
	case 1:
		step := 2 + rng.IntN(10)
		v.text = fmt.Sprintf("*/%d", step)
		fill(first, last, step)
	case 2:
		v.text = fmt.Sprintf("%d-%d", low, high)
		fill(low, high, 1)
	case 3:
		v.text = fmt.Sprintf("%d,%d", high, low)
		fill(low, low, 1)
		fill(high, high, 1)
	default:
		v.text = fmt.Sprint(low)
		fill(low, low, 1)
	}
	return v
}

// drawn is a schedule that knows its own meaning.
type drawn struct {
	text                             string
	minute, hour, day, month, inWeek values
}

func drawSchedule(rng *rand.Rand) drawn {
	d := drawn{
		minute: drawValues(rng, 0, 59), hour: drawValues(rng, 0, 23), day: values{text: "*", any: true},
		month: values{text: "*", any: true}, inWeek: values{text: "*", any: true},
	}
	all := [60]bool{}
	for i := range all {
		all[i] = true
	}
	d.day.has, d.month.has, d.inWeek.has = all, all, all
	// Most clocks change in the first hours of a day.
	if rng.IntN(2) == 0 {
		d.hour = drawValues(rng, 0, 3)
		if d.hour.any {
			d.hour.text, d.hour.any = "0-3", false
		} else if strings.HasPrefix(d.hour.text, "*") {
			d.hour.text = strings.Replace(d.hour.text, "*", "0-3", 1)
		}
	}
	if rng.IntN(3) == 0 {
		d.day = drawValues(rng, 1, 31)
	}
	if rng.IntN(4) == 0 {
		d.month = drawValues(rng, 1, 12)
	}
	if rng.IntN(3) == 0 {
		d.inWeek = drawValues(rng, 0, 6)
	}
	d.text = strings.Join([]string{d.minute.text, d.hour.text, d.day.text, d.month.text, d.inWeek.text}, " ")
	return d
}

// matches asks the five fields for a wall time.
func (d drawn) matches(wall time.Time) bool {
	if !d.minute.has[wall.Minute()] || !d.hour.has[wall.Hour()] || !d.month.has[wall.Month()] {
		return false
	}
	day, inWeek := d.day.has[wall.Day()], d.inWeek.has[wall.Weekday()]
	if d.day.any || d.inWeek.any {
		return day && inWeek
	}
	return day || inWeek
}

// interval is a time in which a window is open, from its first second until before another.
type interval struct{ from, to int64 }

// trial is a drawn window, and when the scan found it open.
type trial struct {
	drawn
	duration int64
	open     []interval
}

func drawTrials(rng *rand.Rand) []*trial {
	var trials []*trial
	for range 5 {
		duration := 900 + rng.Int64N(6*3600)
		switch rng.IntN(4) {
		case 0:
			duration = 900 * (1 + rng.Int64N(8)) // They touch.
		case 1:
			duration = 900 + rng.Int64N(604800-900+1)
		}
		trials = append(trials, &trial{drawn: drawSchedule(rng), duration: duration})
	}
	return trials
}

func (tr *trial) hit(at int64) {
	if last := len(tr.open) - 1; last >= 0 && at <= tr.open[last].to {
		tr.open[last].to = at + tr.duration
	} else {
		tr.open = append(tr.open, interval{at, at + tr.duration})
	}
}

// scan goes through every minute of a time, and looks at the clocks of the zone. A wall minute that they showed before is no
// other hit; those that they skipped are hits of the minute after.
func scan(zone *time.Location, from, to int64, trials []*trial) {
	shown := int64(-1 << 62)
	for at := from; at <= to; at += 60 {
		_, offset := time.Unix(at, 0).In(zone).Zone()
		wall := (at + int64(offset)) / 60
		if at == from {
			shown = wall - 1
		}
		for ; shown < wall; shown++ {
			local := time.Unix((shown+1)*60, 0).UTC()
			minute := local.Minute()
			for _, tr := range trials {
				if tr.minute.has[minute] && tr.matches(local) {
					tr.hit(at)
				}
			}
		}
	}
}

// at is what a window has to say, by what was found.
func (tr *trial) at(now time.Time) State {
	limit := now.Add(Horizon)
	next, _ := slices.BinarySearchFunc(tr.open, now.Unix(), func(i interval, at int64) int {
		return cmp.Compare(i.to, at+1) // The first one that has not ended.
	})
	if next == len(tr.open) {
		return State{}
	}
	found := tr.open[next]
	begins, ends := time.Unix(found.from, 0).UTC(), time.Unix(found.to, 0).UTC()
	switch open := !begins.After(now); {
	case open && ends.After(limit):
		return State{Open: true}
	case open:
		return State{Open: true, Changes: ends, LastStart: ends}
	case begins.After(limit):
		return State{}
	}
	return State{Changes: begins}
}

// compare asks the window at times that are drawn and, if all is set, at each time that something changes.
func (tr *trial) compare(zone string, from, to time.Time, rng *rand.Rand, all bool) error {
	w, err := Parse(ucv1.MaintenanceWindow{
		Name: "drawn", Schedule: tr.text, TimeZone: zone, DurationSeconds: int32(tr.duration),
	})
	if err != nil {
		return err
	}
	for range 40 {
		if err := tr.ask(w, from.Add(time.Duration(rng.Int64N(int64(to.Sub(from)))))); err != nil {
			return err
		}
	}
	for _, i := range tr.open {
		if i.from < from.Unix() || i.to > to.Unix() || !all && rng.IntN(len(tr.open)) > 20 {
			continue
		}
		for _, second := range []int64{i.from - 1, i.from, i.to - 1, i.to} {
			if err := tr.ask(w, time.Unix(second, 0)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (tr *trial) ask(w Window, now time.Time) error {
	if found, want := w.At(now), tr.at(now); found != want {
		return fmt.Errorf("%s %q for %d s at %s: is %+v, the scan says %+v", w.zone, tr.text, tr.duration, now.UTC(), found, want)
	}
	return nil
}

// scanned draws windows, and finds when they are open in a year, on the clocks of a zone. The scan begins so long before that
// nothing of it is still open, and ends beyond the horizon.
func scanned(zone *time.Location, year int, rng *rand.Rand) (trials []*trial, from, to time.Time) {
	from, to = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)
	trials = drawTrials(rng)
	scan(zone, from.AddDate(0, 0, -10).Unix(), to.AddDate(0, 0, 42).Unix(), trials)
	return trials, from, to
}

// TestWindowsAreThoseOfAScanInEveryZone: the clocks of zones that behave alike are scanned once; the windows of all are compared.
func TestWindowsAreThoseOfAScanInEveryZone(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seedFlag, 3))
	alike := map[string][]string{}
	var order []string
	names := zoneNames(t)
	for _, name := range names {
		zone, err := time.LoadLocation(name)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		key := behavior(zone, time.Date(*yearFlag-1, 12, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(*yearFlag+1, 3, 1, 0, 0, 0, 0, time.UTC).Unix())
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], name)
	}
	t.Logf("seed %d, year %d: %d zones, %d behaviors", *seedFlag, *yearFlag, len(names), len(order))
	openings := 0
	for _, key := range order {
		zone, _ := time.LoadLocation(alike[key][0])
		trials, from, to := scanned(zone, *yearFlag, rng)
		for _, tr := range trials {
			openings += len(tr.open)
		}
		for i, name := range alike[key] {
			for _, tr := range trials {
				if err := tr.compare(name, from, to, rng, i == 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	NewWithT(t).Expect(openings).To(BeNumerically(">", 10*len(order)), "what was compared")
	t.Logf("%d openings", openings)
}

// TestWindowsAreThoseOfAScanInOddYears: clocks that did what none of this year do.
func TestWindowsAreThoseOfAScanInOddYears(t *testing.T) {
	t.Logf("seed %d", *seedFlag)
	for zone, year := range map[string]int{
		"Pacific/Apia":        2011, // A day less.
		"Pacific/Kwajalein":   1969, // Nearly a day more.
		"Pacific/Enderbury":   1994, // A day less, at the end of the year.
		"America/Caracas":     2007, // Half an hour back.
		"Asia/Pyongyang":      2015,
		"America/St_Johns":    2010, // A minute after midnight.
		"Antarctica/Troll":    2020, // Two hours.
		"Antarctica/Casey":    2020, // Hours in any direction.
		"Africa/Casablanca":   2024, // Four changes.
		"Africa/Cairo":        2010, // Four changes, at midnight.
		"America/Sao_Paulo":   2018, // A midnight that is skipped.
		"Australia/Lord_Howe": 2026, // Half an hour.
		"Europe/Moscow":       2011,
	} {
		t.Run(zone, func(t *testing.T) {
			g := NewWithT(t)
			rng := rand.New(rand.NewPCG(*seedFlag, uint64(year)))
			location, err := time.LoadLocation(zone)
			g.Expect(err).NotTo(HaveOccurred())
			trials, from, to := scanned(location, year, rng)
			for _, tr := range trials {
				g.Expect(tr.compare(zone, from, to, rng, true)).To(Succeed())
			}
		})
	}
}
