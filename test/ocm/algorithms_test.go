package ocm_test

import (
	"fmt"
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	rollout "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	placement "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// theirs is the algorithm of Open Cluster Management: in groups, or with a limit for all.
type theirs struct{ trial }

func (a theirs) strategy() ocmv1alpha1.RolloutStrategy {
	config := ocmv1alpha1.RolloutConfig{MaxFailures: intstr.Parse(a.maxFailures)}
	if a.deadline > 0 {
		config.ProgressDeadline = a.deadline.String()
	}
	if a.maxConcurrency == "" {
		return ocmv1alpha1.RolloutStrategy{
			Type: ocmv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &ocmv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config},
		}
	}
	return ocmv1alpha1.RolloutStrategy{Type: ocmv1alpha1.Progressive, Progressive: &ocmv1alpha1.RolloutProgressive{
		RolloutConfig: config, MaxConcurrency: intstr.Parse(a.maxConcurrency),
	}}
}

// next gives it the status of all Clusters, as its documentation asks for. It finds what is late itself.
func (a theirs) next(t *testing.T, now time.Time, fleet []seen) []string {
	t.Helper()
	g := NewWithT(t)
	theirClock(t, now)
	groups := placement.ClusterGroupsMap{}
	var statuses []rollout.ClusterRolloutStatus
	for _, s := range fleet {
		key := placement.GroupKey{GroupName: fmt.Sprint("group-", s.group), GroupIndex: int32(s.group)}
		if groups[key] == nil {
			groups[key] = sets.New[string]()
		}
		groups[key].Insert(s.name)
		status := rollout.ClusterRolloutStatus{
			ClusterName: s.name, GroupKey: key, LastTransitionTime: &metav1.Time{Time: s.since},
			Status: map[state]rollout.RolloutStatus{
				waiting: rollout.ToApply, underWay: rollout.Progressing, succeeded: rollout.Succeeded, failed: rollout.Failed,
				timedOut: rollout.Progressing,
			}[s.state],
		}
		if s.state == timedOut {
			status.LastTransitionTime = &metav1.Time{Time: s.startedAt}
		}
		statuses = append(statuses, status)
	}
	tracker := placement.NewPlacementDecisionClustersTrackerWithGroups(nil, nil, groups)
	handler, err := rollout.NewRolloutHandler[any](tracker, nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, result, err := handler.GetRolloutCluster(a.strategy(), statuses)
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, status := range result.ClustersToRollout {
		names = append(names, status.ClusterName)
	}
	return names
}

// theirClock is one for the whole process.
func theirClock(t *testing.T, now time.Time) {
	t.Helper()
	before := rollout.RolloutClock
	t.Cleanup(func() { rollout.RolloutClock = before })
	rollout.RolloutClock = clock.Clock(clocktesting.NewFakeClock(now))
}

// ours is pkg/fleet: a wave for each group, and the status is carried over as a controller does.
type ours struct {
	trial
	object *ucv1.FleetMigration
}

func newOurs(tr trial) *ours {
	fm := &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "fleet", UID: "uid"},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: &metav1.LabelSelector{},
			Failures: ucv1.FleetFailures{GraceSeconds: new(int32(0)), ProgressDeadlineSeconds: new(int32(1_000_000))},
		},
	}
	if tr.deadline > 0 {
		fm.Spec.Failures.ProgressDeadlineSeconds = new(int32(tr.deadline / time.Second))
	}
	groups := 1
	for _, c := range tr.clusters {
		groups = max(groups, c.group+1)
	}
	for i := range groups {
		name := fmt.Sprint("group-", i)
		wave := ucv1.Wave{
			Name: name, ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"group": name}},
			MaxConcurrency: new(intstr.FromString("100%")), MaxFailures: new(intstr.Parse(tr.maxFailures)),
			MinSuccesses: new(intstr.FromInt32(1)), SoakSeconds: new(int32(0)), Order: ucv1.Alphabetical,
		}
		if tr.maxConcurrency != "" {
			wave.MaxConcurrency = new(intstr.Parse(tr.maxConcurrency))
		}
		fm.Spec.Waves = append(fm.Spec.Waves, wave)
	}
	return &ours{tr, fm}
}

func (a *ours) next(t *testing.T, now time.Time, clusters []seen) []string {
	t.Helper()
	f := fleet.Fleet{Migrations: []fleet.Migration{fleet.Compile(a.object)}}
	for _, s := range clusters {
		f.Members = append(f.Members, memberOf(s, now))
	}
	(&fleet.Placer{}).Place(&f)
	plan := fleet.Decide(f, now)
	a.object.Status = plan.Migrations[0].Status
	a.object.Status.Admitting = nil // All of them are admitted before the next pass.
	var names []string
	for i, p := range plan.Members {
		if p.Admit {
			names = append(names, f.Members[i].Name)
		}
	}
	return names
}

func memberOf(s seen, now time.Time) fleet.Member {
	group := fmt.Sprint("group-", s.group)
	m := fleet.Member{
		Namespace: "user", Name: s.name, UID: "uid-" + s.name, Labels: labels.Set{"group": group}, Requested: true,
		Nodes: observation.Known[int32](3), Blocking: observation.Known(false), LookedAt: now, StartedAt: s.startedAt,
		Admission: &ucv1.AdmissionStatus{FleetMigration: "fleet", UID: "uid", Wave: group, State: ucv1.AdmissionQueued},
	}
	if s.state == waiting {
		return m
	}
	m.Admission.State, m.Admission.AdmittedAt = ucv1.AdmissionAdmitted, &metav1.Time{Time: s.startedAt}
	switch s.state {
	case succeeded:
		m.CompletedAt, m.HealthySince, m.RolledOut, m.Verdict = s.since, s.since, true, slo.Met
	case failed:
		m.Stalled = fleet.Trouble{Reason: ucv1.BlockedMachinesReason, Since: s.since}
	default: // pkg/fleet, too, finds what is late itself.
	}
	return m
}
