package fleet

import (
	"fmt"
	"slices"
	"time"
)

// written is how far the time in a status, which has whole seconds, may be from the write in the audit log.
const written = 3 * time.Second

// Unmet names what did not come as the story promises.
func (c Cast) Unmet(r *Report) []string {
	var unmet []string
	expect := func(holds bool, format string, arguments ...any) {
		if !holds {
			unmet = append(unmet, fmt.Sprintf(format, arguments...))
		}
	}
	expect(len(r.Clusters) == len(c.Members), "%d clusters are in the report, not %d", len(r.Clusters), len(c.Members))
	expect(r.Overlaps == 0, "a loop ran in two managers %d times", r.Overlaps)
	expect(len(r.Kills) == 1, "the manager was killed %d times while it admitted", len(r.Kills))
	expect(len(r.Approved) == 1, "a wave was approved %d times", len(r.Approved))
	for key, most := range r.MostInFlight {
		limit := c.limit(key)
		expect(most <= limit, "%s had %d in flight at once, and may have %d", key, most, limit)
	}
	for _, cluster := range r.Clusters {
		c.cluster(r, cluster, expect)
	}
	if c.Breaks == "" {
		expect(len(r.Halts) == 0, "halts: %+v", r.Halts)
		return unmet
	}
	expect(len(r.Halts) == 1 && slices.Equal(r.Halts[0].Clusters, []string{"user-" + c.Breaks + "/" + c.Breaks}),
		"halts: %+v, and one because of %s was expected", r.Halts, c.Breaks)
	expect(len(r.Resumed) == 1, "a person resumed %d times", len(r.Resumed))
	return unmet
}

func (c Cast) limit(key string) int {
	switch key {
	case north + "/" + canary:
		return 1
	case north + "/" + prod:
		return prodAtOnce
	case south + "/" + all:
		return southAtOnce
	}
	return perRegion
}

func (c Cast) cluster(r *Report, cluster ClusterReport, expect func(bool, string, ...any)) {
	name := cluster.Name
	at := slices.IndexFunc(c.Members, func(m Member) bool { return m.Name == name })
	expect(at >= 0 && c.Members[at].Fleet == cluster.Fleet && c.Members[at].Wave == cluster.Wave, "%s was in %s/%s", name,
		cluster.Fleet, cluster.Wave)
	expect(cluster.Completed, "%s is not completed", name)
	expect(!cluster.AdmittedAt.IsZero() && !cluster.StartedAt.Before(cluster.AdmittedAt), "%s started at %s and was admitted at %s",
		name, cluster.StartedAt, cluster.AdmittedAt)
	expect(slices.ContainsFunc(cluster.WrittenAt, func(at time.Time) bool { return at.Sub(cluster.AdmittedAt).Abs() < written }),
		"the audit log has no write of the fleet's manager when %s was admitted: %v", name, cluster.WrittenAt)
	if cluster.Fleet == north {
		r.north(cluster, expect)
	}
}

// north has windows, halts, and a wave that a person approves.
func (r *Report) north(cluster ClusterReport, expect func(bool, string, ...any)) {
	name := cluster.Name
	closed := !r.ClosedFrom.IsZero() && !cluster.AdmittedAt.Before(r.ClosedFrom) && cluster.AdmittedAt.Before(r.ClosedTo)
	expect(!closed, "%s was admitted at %s, and no window was open", name, cluster.AdmittedAt)
	for i, halt := range r.Halts {
		until := time.Now()
		if i < len(r.Resumed) {
			until = r.Resumed[i].Truncate(time.Second)
		}
		expect(!cluster.AdmittedAt.After(halt.At) || !cluster.AdmittedAt.Before(until), "%s was admitted at %s, after the halt at %s",
			name, cluster.AdmittedAt, halt.At)
	}
	if cluster.Wave == prod && len(r.Approved) > 0 {
		expect(!cluster.AdmittedAt.Before(r.Approved[0].Truncate(time.Second)), "%s was admitted before its wave was approved", name)
	}
}
