package demo

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// Screen prints what happens, one line each, with the seconds since the start.
type Screen struct {
	mu      sync.Mutex
	out     io.Writer
	started time.Time
}

// NewScreen returns a Screen that starts counting now.
func NewScreen(out io.Writer) *Screen {
	return &Screen{out: out, started: time.Now()}
}

// Say prints a line.
func (s *Screen) Say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.out, "%7.1fs  %s\n", time.Since(s.started).Seconds(), line)
}

// Table prints the report for people.
func (s *Screen) Table(report *Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "\nCLUSTER\tRESULT\tPROTOCOL\tGAP\tUNATTENDED\tIN KCM\tNODEIPAM\tOVERLAPS"+
		"\tMACHINES REPLACED\tTWICE\tNODES INITIALIZED\tLOAD BALANCERS KEPT\tCREATED\tDELETED")
	for _, c := range report.Clusters {
		gap := "-"
		if c.Handover.GapSeconds != nil {
			gap = fmt.Sprintf("%.1f s", *c.Handover.GapSeconds)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.1f s\t%.1f s\t%.1f s\t%d\t%d/%d\t%d\t%d/%d\t%d/%d\t%d\t%d\n",
			c.Name, c.Result, c.Protocol, gap, c.Unattended.Cloud.Seconds, c.Unattended.KCM.Seconds,
			c.Unattended.NodeIPAM.Seconds, c.Handover.Overlaps,
			c.Machines.Replaced, c.Machines.Before, c.Machines.ReplacedTwice, c.Nodes.Initialized, c.Nodes.Total,
			c.LoadBalancers.Kept, c.LoadBalancers.Before, c.LoadBalancers.Created, c.LoadBalancers.Deleted)
	}
	_ = w.Flush()
	_, _ = fmt.Fprintf(s.out, "\nmanager: at most %d MiB resident\n", report.Controller.MaxRSSBytes>>20)
	for _, name := range slices.Sorted(maps.Keys(report.Controller.APIRequests)) {
		requests := report.Controller.APIRequests[name]
		_, _ = fmt.Fprintf(s.out, "requests to %s: %d, of them %d reads\n", name, requests.All(), requests.Reads())
	}
	_, _ = fmt.Fprintf(
		s.out,
		"alpha: condition True %.2f s after the last event that it needed (soak time 0 s in the demo)\n\n",
		report.CompletionDelaySeconds,
	)
}
