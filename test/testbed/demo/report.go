package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// Report is report.json.
type Report struct {
	Clusters   []ClusterReport `json:"clusters"`
	Controller ManagerCost     `json:"controller"`
	// CompletionDelaySeconds is from the last event in alpha that its condition needed to the condition.
	CompletionDelaySeconds float64 `json:"completionDelaySeconds"`
}

// The results.
const (
	Completed = "Completed"
	External  = "External"
	Failed    = "Failed"
)

// ClusterReport is what became of one cluster.
type ClusterReport struct {
	Namespace         string                    `json:"namespace"`
	Name              string                    `json:"name"`
	Protocol          string                    `json:"protocol"`
	KubernetesVersion string                    `json:"kubernetesVersion"`
	Result            string                    `json:"result"`
	Steps             []StepReport              `json:"steps"`
	Handover          HandoverReport            `json:"handover"`
	Machines          MachinesReport            `json:"machines"`
	Nodes             NodesReport               `json:"nodes"`
	LoadBalancers     loops.LoadBalancerSummary `json:"loadBalancers"`
	Conditions        []metav1.Condition        `json:"conditions"`
}

// StepReport is how long a step was current.
type StepReport struct {
	Step       string       `json:"step"`
	StartedAt  metav1.Time  `json:"startedAt"`
	FinishedAt *metav1.Time `json:"finishedAt"`
}

// HandoverReport is computed from the raw records. GapSeconds is null where no manager ever ran a cloud loop before the
// hand-over, or nothing could run one after it (a cluster without Nodes).
type HandoverReport struct {
	LeaseDurationSeconds float64  `json:"leaseDurationSeconds"`
	GapSeconds           *float64 `json:"gapSeconds"`
	Overlaps             int      `json:"overlaps"`
}

// MachinesReport counts Machines.
type MachinesReport struct {
	Before        int `json:"before"`
	Replaced      int `json:"replaced"`
	ReplacedTwice int `json:"replacedTwice"`
}

// NodesReport counts Nodes.
type NodesReport struct {
	Total       int `json:"total"`
	Initialized int `json:"initialized"`
}

// Report computes the report and writes it beside the raw records.
func (s *Story) Report() (*Report, error) {
	calls, samples, err := s.records()
	if err != nil {
		return nil, err
	}
	report := &Report{Controller: s.manager, CompletionDelaySeconds: s.witnesses["alpha"].CompletionDelay().Seconds()}
	for _, name := range names() {
		cluster, err := s.reportCluster(name, loops.OfCluster(calls, name), loops.OfCluster(samples, name))
		if err != nil {
			return nil, err
		}
		report.Clusters = append(report.Clusters, *cluster)
	}
	content, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return nil, err
	}
	return report, os.WriteFile(s.Bed.File("report.json"), content, 0o644)
}

func (s *Story) records() ([]simcloud.Call, []loops.Sample, error) {
	callFile, err := os.Open(filepath.Clean(s.Bed.File("simcloud.jsonl")))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = callFile.Close() }()
	calls, err := loops.ReadCalls(callFile)
	if err != nil {
		return nil, nil, err
	}
	sampleFile, err := os.Open(filepath.Clean(s.Bed.File("loops.jsonl")))
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = sampleFile.Close() }()
	samples, err := loops.ReadSamples(sampleFile)
	return calls, samples, err
}

func (s *Story) reportCluster(name string, calls []simcloud.Call, samples []loops.Sample) (*ClusterReport, error) {
	cluster, err := s.clusters[name].Get(s.ctx)
	if err != nil {
		return nil, err
	}
	witness := s.witnesses[name]
	report := &ClusterReport{
		Namespace: cluster.Namespace, Name: name, KubernetesVersion: bed.KubernetesVersion, Result: resultOf(cluster),
		Steps:         stepsOf(cluster),
		Handover:      s.handover(cluster, calls, samples),
		Machines:      witness.Machines(),
		LoadBalancers: loops.LoadBalancers(calls, s.flippedAt),
		Conditions:    cluster.Status.Conditions,
	}
	if cluster.Status.Handover != nil {
		report.Protocol = string(cluster.Status.Handover.Protocol)
	}
	report.Nodes, err = s.nodes(name)
	return report, err
}

func resultOf(cluster *ucv1.Cluster) string {
	ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
	switch {
	case ready == nil || ready.Status != metav1.ConditionTrue || cluster.Status.Step != ucv1.StepFinished:
		return Failed
	case ready.Reason == ucv1.ExternalReason:
		return External
	}
	return Completed
}

func stepsOf(cluster *ucv1.Cluster) []StepReport {
	var steps []StepReport
	for _, entry := range cluster.Status.Timeline {
		if entry.Kind != ucv1.TimelineStep {
			continue
		}
		if len(steps) > 0 {
			steps[len(steps)-1].FinishedAt = entry.Time.DeepCopy()
		}
		steps = append(steps, StepReport{Step: string(entry.Step), StartedAt: entry.Time})
	}
	return steps
}

func (s *Story) handover(cluster *ucv1.Cluster, calls []simcloud.Call, samples []loops.Sample) HandoverReport {
	report := HandoverReport{
		LeaseDurationSeconds: s.Bed.Options().LeaseDuration.Seconds(),
		Overlaps:             len(loops.Overlaps(samples)) + len(loops.CallOverlaps(calls)),
	}
	if cluster.Status.Origin != ucv1.OriginMigrating || cluster.Name == "delta" {
		return report
	}
	// Later gaps are not the hand-over's: a drained Node takes the CCM's leader with it, and its Lease has to run out.
	end := cluster.Status.Handover.FinishedAt.Add(5 * time.Second)
	var longest time.Duration
	for loop, gap := range loops.Gaps(samples, s.flippedAt.Add(-time.Second), end) {
		if slices.Contains(loops.CloudLoops(), loop) {
			longest = max(longest, gap)
		}
	}
	seconds := longest.Seconds()
	report.GapSeconds = &seconds
	return report
}

// Unmet names what did not end as the story promises. The delay of the condition is reported, not judged: it depends on
// the machine.
func Unmet(report *Report) []string {
	var unmet []string
	expect := func(holds bool, format string, arguments ...any) {
		if !holds {
			unmet = append(unmet, fmt.Sprintf(format, arguments...))
		}
	}
	for _, c := range report.Clusters {
		want := Completed
		if c.Name == "beta" {
			want = External
		}
		lbs := c.LoadBalancers
		expect(c.Result == want, "%s is %s, not %s", c.Name, c.Result, want)
		expect(c.Handover.Overlaps == 0, "%s: a loop ran in two managers %d times", c.Name, c.Handover.Overlaps)
		expect(c.Machines.ReplacedTwice == 0, "%s: %d Machines were replaced twice", c.Name, c.Machines.ReplacedTwice)
		expect(c.Nodes.Total == c.Nodes.Initialized, "%s: %d of %d Nodes are initialized", c.Name, c.Nodes.Initialized, c.Nodes.Total)
		expect(lbs.Kept == lbs.Before && lbs.Created == 0 && lbs.Deleted == 0, "%s: load balancers %+v", c.Name, lbs)
		if gap := c.Handover.GapSeconds; gap != nil {
			expect(*gap < c.Handover.LeaseDurationSeconds, "%s: the gap was %.1f s", c.Name, *gap)
		}
		if c.Result == Completed && c.Name != "delta" {
			expect(c.Machines.Before > 0 && c.Machines.Replaced == c.Machines.Before, "%s: %d of %d Machines were replaced", c.Name, c.Machines.Replaced, c.Machines.Before)
		}
	}
	expect(len(report.Clusters) == len(names()), "%d clusters were reported, not %d", len(report.Clusters), len(names()))
	return unmet
}
