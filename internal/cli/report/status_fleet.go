package report

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// trouble is what is wrong with a Cluster, by how much harm it does while it stays.
type trouble string

// The troubles, worst first.
const (
	// cloudLoops: no manager runs them, or two do.
	cloudLoops trouble = "CloudLoops"
	// breaker: a roll stopped, because new Nodes are not well.
	breaker trouble = "Breaker"
	// failed: a migration cannot go on.
	failed trouble = "Failed"
	// notLooked: it is not known how it stands.
	notLooked trouble = "CannotLook"
	// halted: a person or a FleetMigration holds it in the middle.
	halted trouble = "Halted"
	// waitsForYou: it goes on when a person says so.
	waitsForYou trouble = "WaitsForYou"
	// findings: it cannot begin.
	findings trouble = "Findings"

	noTrouble trouble = ""
)

func troubles() []trouble {
	return []trouble{cloudLoops, breaker, failed, notLooked, halted, waitsForYou, findings, noTrouble}
}

func troubleOf(cluster *ucv1.Cluster, r *clusterReport) trouble {
	conditions := cluster.Status.Conditions
	stalled := meta.IsStatusConditionTrue(conditions, ucv1.StalledCondition)
	switch {
	case r.Unattended != "", r.Reason == ucv1.CloudLoopsContendedReason:
		return cloudLoops
	case r.Reason == ucv1.BreakerTrippedReason, r.Reason == ucv1.CanaryFailedReason:
		return breaker
	case stalled && r.Reason != ucv1.PreflightFailedReason:
		return failed
	case r.Blocking != "", r.Reason == ucv1.PreflightFailedReason:
		return findings
	case meta.IsStatusConditionPresentAndEqual(conditions, ucv1.ReadyCondition, metav1.ConditionUnknown):
		return notLooked
	case r.State == isPaused, r.Reason == ucv1.HeldByFleetReason:
		return halted
	case r.State == needsYou:
		return waitsForYou
	}
	return noTrouble
}

// fleetReport is what status prints without a name.
type fleetReport struct {
	selection *selection
	Counts    map[clusterState]int `json:"counts"`
	// Groups are Clusters with the same trouble, worst first; Clusters without one are in no group.
	Groups   []clusterGroup  `json:"groups"`
	Clusters []clusterReport `json:"clusters"`
}

// clusterGroup has the same trouble for the same reason. Its Clusters stand together.
type clusterGroup struct {
	Trouble trouble `json:"trouble"`
	Reason  string  `json:"reason,omitempty"`
	// Findings are the same for all of them.
	Findings []string `json:"findings,omitempty"`
	Clusters int      `json:"clusters"`
}

// groupOf a Cluster, without the number of those in it.
func groupOf(r *clusterReport) clusterGroup {
	group := clusterGroup{Trouble: r.Trouble, Reason: r.Reason, Findings: r.Findings}
	switch {
	case r.Unattended != "":
		group.Reason, group.Findings = ucv1.CloudLoopsUnattendedReason, nil
	case group.Trouble == findings:
		group.Reason = ucv1.PreflightFailedReason
	case group.Trouble == noTrouble:
		group.Reason = ""
	}
	return group
}

func (c clusterGroup) key() string {
	return string(c.Trouble) + "\n" + c.Reason + "\n" + strings.Join(c.Findings, ",")
}

// newFleetReport shows the worst trouble first, and of one trouble the reason that most Clusters have. Without trouble, it is by
// state and name.
func newFleetReport(clusters []ucv1.Cluster, selected *selection) *fleetReport {
	report := &fleetReport{
		selection: selected, Counts: map[clusterState]int{}, Groups: []clusterGroup{}, Clusters: []clusterReport{},
	}
	groups := map[string]clusterGroup{}
	for i := range clusters {
		one := newClusterReport(&clusters[i])
		if !selected.selects(&one) {
			continue
		}
		report.Clusters = append(report.Clusters, one)
		report.Counts[one.State]++
		group := groupOf(&one)
		group.Clusters = groups[group.key()].Clusters + 1
		groups[group.key()] = group
	}
	for _, group := range groups {
		if group.Trouble != noTrouble {
			report.Groups = append(report.Groups, group)
		}
	}
	slices.SortFunc(report.Groups, compareGroups)
	states := clusterStates()
	slices.SortFunc(report.Clusters, func(a, b clusterReport) int {
		return cmp.Or(
			compareGroups(groups[groupOf(&a).key()], groups[groupOf(&b).key()]),
			slices.Index(states, a.State)-slices.Index(states, b.State),
			strings.Compare(a.Cluster, b.Cluster),
		)
	})
	return report
}

func compareGroups(a, b clusterGroup) int {
	order := troubles()
	return cmp.Or(
		slices.Index(order, a.Trouble)-slices.Index(order, b.Trouble), b.Clusters-a.Clusters, strings.Compare(a.key(), b.key()),
	)
}
