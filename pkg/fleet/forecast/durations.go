package forecast

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// What is assumed while too few Clusters are done to measure it.
const (
	// base is what each Cluster takes, whatever its size: the hand-over, and the proofs at the end.
	base = 30 * time.Minute
	// perNode is what replacing one Machine takes.
	perNode = 5 * time.Minute
	// enough Clusters to measure.
	enough = 3
)

// Takes is how long a Cluster migrates: until all its Machines are replaced, and until it is done.
type Takes struct{ Roll, All time.Duration }

// Durations of Clusters by their number of Nodes.
type Durations struct {
	// PerNode is what a Node takes: in the fastest tenth of the Clusters, in half of them, and in all but the slowest tenth.
	PerNode [3]time.Duration
	// Measured is the number of Clusters that they are from; 0 where they are assumed.
	Measured int
	// longest is what a Cluster may take before it counts as failed: a forecast is about those that do not.
	longest time.Duration
}

// Measure how long the Clusters of a fleet took that are done.
func Measure(of Fleet, name string) Durations {
	d := Durations{PerNode: [3]time.Duration{perNode / 2, perNode, 2 * perNode}}
	for _, fm := range of.Migrations {
		if fm.Name == name {
			compiled := fleet.Compile(fm)
			d.longest = compiled.Deadline() - time.Minute
		}
	}
	var rates []time.Duration
	for i := range of.Members {
		m := &of.Members[i]
		nodes, known := m.Nodes.Get()
		if took := m.CompletedAt.Sub(m.StartedAt) - m.PausedFor; known && !m.StartedAt.IsZero() && m.CompletedAt.After(m.StartedAt) {
			rates = append(rates, max(0, took-base)/time.Duration(max(1, nodes)))
		}
	}
	if len(rates) < enough {
		return d
	}
	slices.Sort(rates)
	last := len(rates) - 1
	d.Measured, d.PerNode = len(rates), [3]time.Duration{rates[last/10], rates[last/2], rates[last-last/10]}
	return d
}

// Early is what the fastest Clusters need.
func (d Durations) Early(m *fleet.Member) Takes { return d.takes(m, d.PerNode[0]) }

// Likely is what half of the Clusters need.
func (d Durations) Likely(m *fleet.Member) Takes { return d.takes(m, d.PerNode[1]) }

// Late is what all but the slowest need.
func (d Durations) Late(m *fleet.Member) Takes { return d.takes(m, d.PerNode[2]) }

func (d Durations) takes(m *fleet.Member, each time.Duration) Takes {
	all := (base + each*time.Duration(max(0, m.Nodes.Value()))).Round(time.Minute)
	if d.longest > 0 {
		all = min(all, d.longest)
	}
	return Takes{Roll: all * 3 / 4, All: all}
}

// sentences say where the durations are from.
func (d Durations) sentences(of Fleet) []string {
	each := d.PerNode[1].Round(time.Second)
	said := fmt.Sprintf("A Cluster takes %s and %s for each Node: assumed, because fewer than %d Clusters are done.", short(base),
		short(each), enough)
	if d.Measured > 0 {
		said = fmt.Sprintf("A Cluster takes %s and %s for each Node, as half of the %d Clusters that are done.", short(base),
			short(each), d.Measured)
	}
	sentences := []string{said}
	longer := 0
	for i := range of.Members {
		m := &of.Members[i]
		if m.CompletedAt.IsZero() && d.longest > 0 && base+d.PerNode[1]*time.Duration(m.Nodes.Value()) > d.longest {
			longer++
		}
	}
	if longer > 0 {
		sentences = append(sentences, clusters(longer, "takes", "take")+" longer than spec.failures.progressDeadlineSeconds. "+
			"The forecast counts that deadline; raise it, or they fail.")
	}
	return sentences
}

// short is a duration without the parts that are zero.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if rest, is := strings.CutSuffix(text, zero); is {
			text = rest + zero[:1]
		}
	}
	return text
}

// clusters with their number and verb.
func clusters(n int, one, many string) string {
	if n == 1 {
		return "1 Cluster " + one
	}
	return fmt.Sprintf("%d Clusters %s", n, many)
}

// approvedNow is the spec with a wave that is approved.
func approvedNow(fm *ucv1.FleetMigration, wave, digest string) []ucv1.ApprovedWave {
	approvals := slices.DeleteFunc(slices.Clone(fm.Spec.Approvals), func(a ucv1.ApprovedWave) bool { return a.Wave == wave })
	return append(approvals, ucv1.ApprovedWave{Wave: wave, GateDigest: digest})
}
