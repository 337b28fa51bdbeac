package window

import (
	"fmt"
	"math"
	"time"
	_ "time/tzdata" // An image without files knows every zone, too.
)

const (
	daySeconds = 24 * 60 * 60
	// furthest is more than any clocks ever were from UTC.
	furthest = 16 * 60 * 60
)

// zoneOf is the zone of a name. All names of the IANA database begin with a capital. What else the folder of a machine may have,
// as localtime, posix/… and right/…, which counts leap seconds, is not on every machine, or not the same.
func zoneOf(name string) (*time.Location, error) {
	if name != "" && name != "Local" && name[0] >= 'A' && name[0] <= 'Z' {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	return nil, fmt.Errorf("time zone %q is not known: write a name of the IANA database, such as Europe/Berlin", name)
}

// clock maps wall times of a zone to instants. A wall time is what the clocks show, in seconds as if it were UTC; an instant is
// in seconds since 1970. It goes forward through the periods in which the clocks run evenly.
type clock struct {
	zone *time.Location
	// from and until are the bounds of the period, of which until is none of it; offset is what the clocks are ahead of UTC.
	from, until, offset int64
}

// clockBefore is a clock for wall times from this one on.
func clockBefore(zone *time.Location, wall int64) clock {
	c := clock{zone: zone}
	c.enter(wall - furthest)
	return c
}

// instant is the first at which the clocks show a wall time or a later one. Wall times have to come in their order.
func (c *clock) instant(wall int64) int64 {
	for wall-c.offset >= c.until {
		c.enter(c.until)
	}
	return max(wall-c.offset, c.from)
}

// enter takes the period of an instant. Go does not promise more of its end than that the zone stays the same until then: it may
// be the end of a year, and on the last day of a leap year it is the midnight before (tzset in zoneinfo.go of Go 1.26).
func (c *clock) enter(at int64) {
	local := time.Unix(at, 0).In(c.zone)
	_, offset := local.Zone()
	_, end := local.ZoneBounds()
	c.from, c.until, c.offset = at, math.MaxInt64, int64(offset)
	switch {
	case end.IsZero():
	case end.Unix() > at:
		c.until = end.Unix()
	default:
		c.until = (dayOf(at) + 1) * daySeconds
	}
}

// dayOf is the number of the day since 1970.
func dayOf(seconds int64) int64 {
	day := seconds / daySeconds
	if seconds%daySeconds < 0 {
		day--
	}
	return day
}
