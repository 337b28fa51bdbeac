package loops

import (
	"fmt"
	"slices"
	"time"
)

const (
	// mostFailed is the share of reads that may fail: a busy machine answers late
	// now and then, and what is read is to tell of nearly each half second.
	mostFailed = 0.05
	// readyTime is what a manager gets from its start to its first answer. One that
	// ends earlier need not have been read.
	readyTime = 10 * time.Second
)

// Read is one attempt to take samples of a manager; Error is empty when it
// answered.
type Read struct {
	Time      time.Time `json:"time"`
	Cluster   string    `json:"cluster"`
	Component string    `json:"component"`
	Instance  string    `json:"instance"`
	PID       int       `json:"pid"`
	Error     string    `json:"error,omitempty"`
}

// InCluster says whether the manager works for the cluster.
func (r Read) InCluster(cluster string) bool { return r.Cluster == cluster }

// ReadSummary counts reads. Those before a manager answered first are left out:
// it was starting.
type ReadSummary struct {
	Total  int `json:"total"`
	Failed int `json:"failed"`
}

// SumReads counts the reads of one cluster (see OfCluster).
func SumReads(reads []Read) ReadSummary {
	answered, sum := map[int]bool{}, ReadSummary{}
	for _, read := range slices.SortedStableFunc(slices.Values(reads), func(a, b Read) int { return a.Time.Compare(b.Time) }) {
		answered[read.PID] = answered[read.PID] || read.Error == ""
		if !answered[read.PID] {
			continue
		}
		sum.Total++
		if read.Error != "" {
			sum.Failed++
		}
	}
	return sum
}

// Unread says why the reads of one cluster are too few to prove something: too
// many failed, or a manager that ran until now never answered. It is nil when
// they are enough.
func Unread(reads []Read, managers []Manager, now time.Time) []string {
	var doubts []string
	sum := SumReads(reads)
	if sum.Total == 0 {
		return []string{"no manager was read"}
	}
	if float64(sum.Failed) > mostFailed*float64(sum.Total) {
		doubts = append(doubts, fmt.Sprintf("%d of %d reads failed", sum.Failed, sum.Total))
	}
	answered := map[int]bool{}
	for _, read := range reads {
		answered[read.PID] = answered[read.PID] || read.Error == ""
	}
	for _, m := range managers {
		if m.until(now).Sub(m.StartedAt) >= readyTime && !answered[m.PID] {
			doubts = append(doubts, fmt.Sprintf("Pod %s was never read", m.Instance))
		}
	}
	return doubts
}
