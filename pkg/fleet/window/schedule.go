package window

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// star is the bit by which robfig's parser marks a field that begins with "*".
const star = 1 << 63

// schedule has the days and the times of day at which a window opens.
type schedule struct {
	// month, day of month and day of week have a bit for each number.
	month, dayOfMonth, dayOfWeek uint64
	// times of a day, in seconds since midnight, in their order.
	times []int64
	// runs of times that make one opening.
	runs []run
}

// run is the places of its first and last time.
type run struct{ first, last int }

// field is one of the five.
type field struct {
	name   string
	option cron.ParseOption
	of     func(*cron.SpecSchedule) uint64
	values string
}

func fields() []field {
	return []field{
		{"minute", cron.Minute, func(s *cron.SpecSchedule) uint64 { return s.Minute }, "0 to 59"},
		{"hour", cron.Hour, func(s *cron.SpecSchedule) uint64 { return s.Hour }, "0 to 23"},
		{"day of month", cron.Dom, func(s *cron.SpecSchedule) uint64 { return s.Dom }, "1 to 31"},
		{"month", cron.Month, func(s *cron.SpecSchedule) uint64 { return s.Month }, "1 to 12, or jan to dec"},
		{"day of week", cron.Dow, func(s *cron.SpecSchedule) uint64 { return s.Dow }, "0 (Sunday) to 6, or sun to sat"},
	}
}

// parseSchedule reads the five fields, each by itself, so that an error names it. The parser panics at "TZ=0", and takes "," for
// a field that nothing matches.
func parseSchedule(text string) (schedule, error) {
	texts := strings.Fields(text)
	switch {
	case strings.Contains(text, "@"):
		return schedule{}, errors.New(`schedule has a macro: write five fields, such as "0 22 * * 1-4"`)
	case strings.Contains(text, "="):
		return schedule{}, errors.New("schedule has a time zone: write it into timeZone")
	case len(texts) != len(fields()):
		return schedule{}, fmt.Errorf(
			`schedule has %d fields: write minute, hour, day of month, month and day of week, such as "0 22 * * 1-4"`, len(texts))
	}
	var bits [5]uint64
	for i, f := range fields() {
		parsed, err := cron.NewParser(f.option).Parse(texts[i])
		if spec, ok := parsed.(*cron.SpecSchedule); ok {
			bits[i] = f.of(spec)
		}
		if err != nil || bits[i] == 0 {
			return schedule{}, fmt.Errorf(
				`%s %q of the schedule is not valid: write *, or %s, as a number, a list such as 1,3, `+
					`a range that begins with the smaller number, or a step such as */2`, f.name, texts[i], f.values)
		}
	}
	return schedule{month: bits[3], dayOfMonth: bits[2], dayOfWeek: bits[4], times: timesOf(bits[0], bits[1])}, nil
}

func timesOf(minutes, hours uint64) []int64 {
	var times []int64
	for hour := range int64(24) {
		for minute := range int64(60) {
			if hours&(1<<hour) != 0 && minutes&(1<<minute) != 0 {
				times = append(times, (hour*60+minute)*60)
			}
		}
	}
	return times
}

// runsOf joins times that are not further apart than an opening is long. Clocks that go back within a run part it again.
func runsOf(times []int64, duration int64) []run {
	var runs []run
	for i := range times {
		if i > 0 && times[i]-times[i-1] <= duration {
			runs[len(runs)-1].last = i
		} else {
			runs = append(runs, run{i, i})
		}
	}
	return runs
}

// opensOn says whether a day, by its number, is one of the schedule's.
// https://github.com/robfig/cron/blob/v3.0.1/spec.go#L178-L188
func (s schedule) opensOn(day int64) bool {
	date := time.Unix(day*daySeconds, 0).UTC()
	_, month, dayOfMonth := date.Date()
	if s.month&(1<<month) == 0 {
		return false
	}
	inMonth, inWeek := s.dayOfMonth&(1<<dayOfMonth) != 0, s.dayOfWeek&(1<<date.Weekday()) != 0
	if s.dayOfMonth&star != 0 || s.dayOfWeek&star != 0 {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}
