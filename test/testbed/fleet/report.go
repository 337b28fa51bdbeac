package fleet

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// Report is what came of a story.
type Report struct {
	// Clusters in the order in which they were admitted.
	Clusters []ClusterReport `json:"clusters"`
	// MostInFlight by budget and by wave, as the Clusters' own status says when they were admitted and completed.
	MostInFlight map[string]int `json:"mostInFlight"`
	// Halts that were seen, and when a person resumed, approved, and killed the manager.
	Halts    []HaltReport `json:"halts"`
	Resumed  []time.Time  `json:"resumed"`
	Approved []time.Time  `json:"approved"`
	Kills    []time.Time  `json:"kills"`
	// ClosedFrom and ClosedTo are when no window of north was open; zero: always one was.
	ClosedFrom time.Time `json:"closedFrom,omitzero"`
	ClosedTo   time.Time `json:"closedTo,omitzero"`
	// Overlaps counts loops that ran in two managers, as the sampler and as the cloud saw them.
	Overlaps int `json:"overlaps"`
	// SecondsInAll is from the flips to the end of the last Cluster.
	SecondsInAll float64 `json:"secondsInAll"`
}

// ClusterReport is a Cluster's part.
type ClusterReport struct {
	Name      string `json:"name"`
	Fleet     string `json:"fleetMigration"`
	Wave      string `json:"wave"`
	Region    string `json:"region"`
	WaitedFor string `json:"waitedFor,omitempty"`

	AdmittedAt  time.Time `json:"admittedAt"`
	StartedAt   time.Time `json:"startedAt"`
	CompletedAt time.Time `json:"completedAt"`
	// WrittenAt are the writes of the fleet's manager, from the audit log.
	WrittenAt []time.Time `json:"writtenAt"`
	Completed bool        `json:"completed"`
}

// HaltReport is a halt.
type HaltReport struct {
	At       time.Time `json:"at"`
	Reason   string    `json:"reason"`
	Clusters []string  `json:"clusters"`
}

// Report computes what came of the story, and writes it beside the raw records.
func (s *Story) Report() (*Report, error) {
	r := &Report{MostInFlight: map[string]int{}, Resumed: s.resumed, Approved: s.approved, Kills: s.kills}
	if s.cast.Windows {
		r.ClosedFrom, r.ClosedTo = s.closes, s.opens
	}
	written, err := s.writes()
	if err != nil {
		return nil, err
	}
	for _, m := range s.cast.Members {
		c, err := s.clusters[m.Name].Get(s.ctx)
		if err != nil {
			return nil, err
		}
		r.Clusters = append(r.Clusters, s.reportOf(m, c, written[m.Name]))
	}
	slices.SortFunc(r.Clusters, func(a, b ClusterReport) int {
		return cmp.Or(a.AdmittedAt.Compare(b.AdmittedAt), cmp.Compare(a.Name, b.Name))
	})
	s.seen.mu.Lock()
	for _, halt := range s.seen.halts {
		r.Halts = append(r.Halts, HaltReport{At: halt.At.Time, Reason: halt.Reason, Clusters: halt.Clusters})
	}
	s.seen.mu.Unlock()
	r.count()
	if r.Overlaps, err = s.overlaps(); err != nil {
		return nil, err
	}
	return r, s.keep(r)
}

func (s *Story) reportOf(m Member, c *ucv1.Cluster, written []time.Time) ClusterReport {
	r := ClusterReport{
		Name: m.Name, Region: m.Region, StartedAt: at(c.Status.StartedAt).Time, CompletedAt: at(c.Status.CompletedAt).Time,
		Completed: meta.IsStatusConditionTrue(c.Status.Conditions, ucv1.CSIKubeletMigrationCompletedCondition), WrittenAt: written,
	}
	if a := c.Status.Admission; a != nil {
		r.Fleet, r.Wave, r.AdmittedAt = a.FleetMigration, a.Wave, at(a.AdmittedAt).Time
	}
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	r.WaitedFor = s.seen.waitedFor[c.Namespace+"/"+c.Name]
	return r
}

// count the most that were in flight at once, and how long all took.
func (r *Report) count() {
	var first, last time.Time
	for _, c := range r.Clusters {
		if first.IsZero() || c.AdmittedAt.Before(first) {
			first = c.AdmittedAt
		}
		if c.CompletedAt.After(last) {
			last = c.CompletedAt
		}
		for key := range c.counts() {
			r.MostInFlight[key] = max(r.MostInFlight[key], r.inFlight(key, c.AdmittedAt))
		}
	}
	r.SecondsInAll = last.Sub(first).Seconds()
}

// inFlight are the Clusters of a budget or a wave that were admitted by then and not completed.
func (r *Report) inFlight(key string, at time.Time) (n int) {
	for _, c := range r.Clusters {
		if c.counts()[key] && !c.AdmittedAt.After(at) && c.CompletedAt.After(at) {
			n++
		}
	}
	return n
}

// counts are the budgets and waves that a Cluster counts in.
func (c ClusterReport) counts() map[string]bool {
	return map[string]bool{regionBudget + " " + c.Region: true, c.Fleet + "/" + c.Wave: true}
}

// writes of the fleet's manager to Clusters, from the audit log, by the Cluster's name.
func (s *Story) writes() (map[string][]time.Time, error) {
	events, err := s.Bed.Management.AuditLog().Since(0)
	if err != nil {
		return nil, err
	}
	written := map[string][]time.Time{}
	for _, event := range events {
		path, query, _ := strings.Cut(event.RequestURI, "?")
		if event.Verb != "patch" || !strings.Contains(query, "fieldManager="+ucv1.FleetFieldManager) {
			continue
		}
		if _, name, found := strings.Cut(path, "/clusters/"); found {
			name = strings.TrimSuffix(name, "/status")
			written[name] = append(written[name], event.ReceivedAt)
		}
	}
	return written, nil
}

func (s *Story) overlaps() (int, error) {
	calls, err := read(s.Bed.File("simcloud.jsonl"), loops.ReadCalls)
	if err != nil {
		return 0, err
	}
	samples, err := read(s.Bed.File("loops.jsonl"), loops.ReadSamples)
	if err != nil {
		return 0, err
	}
	return len(loops.Overlaps(samples)) + len(loops.CallOverlaps(calls)), nil
}

func read[T any](path string, parse func(io.Reader) ([]T, error)) ([]T, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return parse(file)
}

func (s *Story) keep(r *Report) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.Bed.File("report.json"), append(content, '\n'), 0o600)
}
