package demo

import (
	"encoding/json"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
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
	Unattended        UnattendedReport          `json:"unattended"`
	Records           RecordsReport             `json:"records"`
	Machines          MachinesReport            `json:"machines"`
	Nodes             NodesReport               `json:"nodes"`
	LoadBalancers     loops.LoadBalancerSummary `json:"loadBalancers"`
	// Canary has what became of the load balancer that the canary was given.
	Canary loops.LoadBalancerSummary `json:"canaryLoadBalancers"`
	// Components are those that are Deployments of the management cluster, of a cluster that was to be migrated.
	Components []ComponentReport  `json:"components,omitempty"`
	Conditions []metav1.Condition `json:"conditions"`
}

// StepReport is how long a step was current.
type StepReport struct {
	Step       string       `json:"step"`
	StartedAt  metav1.Time  `json:"startedAt"`
	FinishedAt *metav1.Time `json:"finishedAt"`
}

// HandoverReport is computed from the raw records. GapSeconds is the longest time around the hand-over in which a cloud loop
// ran nowhere; null where nothing was handed over, or the first Node came later: without one nothing could run a CCM.
type HandoverReport struct {
	LeaseDurationSeconds float64  `json:"leaseDurationSeconds"`
	GapSeconds           *float64 `json:"gapSeconds"`
	Overlaps             int      `json:"overlaps"`
}

// UnattendedReport has the longest times in which a loop ran nowhere, from the flip (or from the first Node, if that came
// later) to the end of the run.
type UnattendedReport struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Cloud is of the loops that are handed over, as managers' metrics have them. KCM is of the loops that stay in KCM: they run
	// in the holder of its Lease. NodeIPAM is the one of them that its metric has, which begins ten seconds later.
	Cloud    Spells `json:"cloud"`
	KCM      Spells `json:"kcm"`
	NodeIPAM Spells `json:"nodeIPAM"`
}

// Spells are judged by the longest one, which may last AtMostSeconds, and by how many of the moves to another manager were
// soon: within five seconds.
type Spells struct {
	loops.Spell
	AtMostSeconds float64 `json:"atMostSeconds"`
	Moves         int     `json:"moves"`
	Soon          int     `json:"soon"`
}

// RecordsReport says what the other numbers rest on.
type RecordsReport struct {
	Calls   int               `json:"calls"`
	Samples int               `json:"samples"`
	Terms   int               `json:"terms"`
	Reads   loops.ReadSummary `json:"reads"`
	// Doubts are what is missing or cannot be told; none of it is excused.
	Doubts []string `json:"doubts,omitempty"`
}

// MachinesReport counts Machines.
type MachinesReport struct {
	Before        int `json:"before"`
	Replaced      int `json:"replaced"`
	ReplacedTwice int `json:"replacedTwice"`
	// Canaries are those that were made and are gone.
	Canaries int `json:"canaries"`
}

// NodesReport counts Nodes.
type NodesReport struct {
	Total       int `json:"total"`
	Initialized int `json:"initialized"`
}

// Report computes the report and writes it beside the raw records.
func (s *Story) Report() (*Report, error) {
	moments := Moments{Flipped: s.flippedAt, Ended: time.Now()}
	all, err := s.records()
	if err != nil {
		return nil, err
	}
	report := &Report{Controller: s.manager, CompletionDelaySeconds: s.witnesses["alpha"].CompletionDelay().Seconds()}
	if report.Controller.APIRequests, err = s.requests(); err != nil {
		return nil, err
	}
	for _, name := range names() {
		cluster, err := s.reportCluster(name, all.of(name), moments)
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

func (s *Story) reportCluster(name string, records Records, moments Moments) (*ClusterReport, error) {
	cluster, err := s.clusters[name].Get(s.ctx)
	if err != nil {
		return nil, err
	}
	witness := s.witnesses[name]
	moments.FirstNode = witness.FirstNode()
	if cluster.Status.Origin == ucv1.OriginMigrating && cluster.Status.Handover != nil && cluster.Status.Handover.FinishedAt != nil {
		moments.HandedOver = cluster.Status.Handover.FinishedAt.Time
	}
	report := &ClusterReport{
		Namespace: cluster.Namespace, Name: name, KubernetesVersion: bed.KubernetesVersion, Result: resultOf(cluster),
		Steps:      stepsOf(cluster),
		Machines:   witness.Machines(s.flippedAt),
		Conditions: cluster.Status.Conditions,
	}
	records.Describe(report, moments, s.Bed.Options().LeaseDuration)
	if cluster.Status.Handover != nil {
		report.Protocol = string(cluster.Status.Handover.Protocol)
	}
	if report.Result != External {
		if report.Components, err = s.deployments(name); err != nil {
			return nil, err
		}
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
