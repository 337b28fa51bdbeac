package slo

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Histogram of seconds, as a CCM exposes it: the number of observations up to each bound, and of all.
type Histogram struct {
	UpTo  map[float64]uint64
	Count uint64
}

// mostCounted is what the text format, whose numbers are floats, can count to.
const mostCounted = 1 << 53

// series are the names of the CCM's histograms. They have no labels, and no bucket that ends at a minute.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/node/metrics.go
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/service/metrics.go
func series() map[string]Indicator {
	return map[string]Indicator{
		"node_controller_cloud_provider_taint_removal_delay_seconds":  TaintRemoval,
		"node_controller_initial_node_sync_delay_seconds":             InitialSync,
		"service_controller_update_loadbalancer_host_latency_seconds": HostUpdate,
		"service_controller_nodesync_latency_seconds":                 NodeSync,
	}
}

// ParseHistograms reads those histograms from the text format of metrics. One that is not there is left out: old releases do not
// have all.
func ParseHistograms(text io.Reader) (map[Indicator]Histogram, error) {
	found := map[Indicator]Histogram{}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		for prefix, indicator := range series() {
			rest, of := strings.CutPrefix(name, prefix)
			if !of {
				continue
			}
			histogram, there := found[indicator]
			if !there {
				histogram = Histogram{UpTo: map[float64]uint64{}}
			}
			if err := histogram.take(rest, value); err != nil {
				return nil, fmt.Errorf("series %s: %w", prefix, err)
			}
			found[indicator] = histogram
		}
	}
	return found, lines.Err()
}

// take one sample of the histogram: _count, or _bucket{le="16"}.
func (h *Histogram) take(suffix, value string) error {
	bound, isBucket := strings.CutPrefix(suffix, `_bucket{le="`)
	if !isBucket && suffix != "_count" {
		return nil
	}
	count, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return err
	}
	if math.IsNaN(count) || count < 0 || count > mostCounted {
		return fmt.Errorf("%s is no number of observations", value)
	}
	if !isBucket {
		h.Count = uint64(count)
		return nil
	}
	upTo, err := strconv.ParseFloat(strings.TrimSuffix(bound, `"}`), 64)
	if err != nil || math.IsNaN(upTo) {
		return fmt.Errorf("%s is no bound of a bucket", bound)
	}
	h.UpTo[upTo] = uint64(count)
	return nil
}

// Since is what came after an earlier look. A process that was started again counts from nothing.
func (h Histogram) Since(earlier Histogram) Histogram {
	if h.Count < earlier.Count {
		return h
	}
	later := Histogram{UpTo: map[float64]uint64{}, Count: h.Count - earlier.Count}
	for bound, count := range h.UpTo {
		later.UpTo[bound] = count - min(count, earlier.UpTo[bound])
	}
	return later
}

// Counts bounds what was within the objective: what is up to the bucket below it was, what is above the bucket after it was not.
func (h Histogram) Counts() Counts {
	below, above := 0.0, math.Inf(1)
	for bound := range h.UpTo {
		if bound <= Objective.Seconds() {
			below = max(below, bound)
		}
		if bound >= Objective.Seconds() {
			above = min(above, bound)
		}
	}
	within := min(h.Count, h.UpTo[below])
	missed := uint64(0)
	if !math.IsInf(above, 1) {
		missed = h.Count - max(within, min(h.Count, h.UpTo[above]))
	}
	return Counts{Within: int(within), Missed: int(missed), Unsure: int(h.Count - within - missed)}
}

// Corroborate weighs what we saw against what the CCM itself says. It can speak for itself where we saw nothing, and it can
// contradict; it never makes good what we saw. It accuses no one alone: it names no objects, and does not begin again when a
// person asks us to.
func Corroborate(own, ccm Counts, least int) Verdict {
	verdict, said := own.Judge(least), ccm.Judge(least)
	if own == (Counts{}) {
		verdict = said
	}
	if said == Violated && (verdict == Met || own == Counts{}) {
		return Inconclusive
	}
	return verdict
}
