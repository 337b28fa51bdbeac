package fence

import (
	"bytes"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
)

func midday() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// fenceSeen is a report of a fence whose objects are there or not, and of which these verbs are allowed.
func fenceSeen(there bool, allowed ...string) *fenceReport {
	report := &fenceReport{
		Cluster: "tenant/alpha",
		Doubt:   "its status says nothing",
		Objects: []fenceObject{{"Role kube-system/lease", there}, {"RoleBinding kube-system/lease", there}},
		CCMLease: leaseReport{
			Lease:       "kube-system/ccm",
			Exists:      new(true),
			Holder:      "ccm-0",
			LastRenewed: new(metav1.NewMicroTime(midday().Add(-time.Minute))),
		},
		KCMLease: leaseReport{Lease: "kube-system/kcm", Exists: new(false)},
	}
	report.addFence(observation.Known(observation.Fence{Open: there, Allowed: allowed}), simcloud.Profile{}.Identity())
	return report
}

func all() []string { return []string{"create", "update"} }

func TestMeaningOfAFence(t *testing.T) {
	unknown := &fenceReport{}
	unknown.addFence(observation.Unknown[observation.Fence]("forbidden"), simcloud.Profile{}.Identity())
	changed := fenceSeen(true, all()...)
	changed.Fence = fenceNotSo
	for name, tc := range map[string]struct {
		report *fenceReport
		change func(*fenceReport)
		state  string
		want   string
	}{
		"closed, and no one leads": {report: fenceSeen(false), state: fenceClosed, want: "The fence is closed, and no CCM was seen " +
			"to lead: it runs no cloud loop."},
		"closed, and someone leads":             {report: fenceSeen(false), change: func(r *fenceReport) { r.CCMLease.Renewed = true }, state: fenceClosed, want: "ccm-0 still renews the CCM's Lease: it ends at its renew deadline"},
		"open, and the CCM leads":               {report: fenceSeen(true, all()...), change: func(r *fenceReport) { r.CCMLease.Renewed = true }, state: fenceOpen, want: "the CCM leads: ccm-0 runs the cloud loops."},
		"open, and there is no CCM":             {report: fenceSeen(true, all()...), state: fenceOpen, want: "there is no Deployment of it"},
		"open, and the CCM does not lead":       {report: fenceSeen(true, all()...), change: func(r *fenceReport) { r.Deployments = []deployment{{Name: "kube-system/ccm"}} }, state: fenceOpen, want: "(Deployment kube-system/ccm)"},
		"open, and its Lease could not be seen": {report: fenceSeen(true, all()...), change: func(r *fenceReport) { r.CCMLease.Exists = nil }, state: fenceOpen, want: "it is not known whether the CCM leads"},
		"open, but another authorizer denies":   {report: fenceSeen(true, "update"), state: fenceNotSo, want: "may not create Leases: look again"},
		"closed, but another rule grants":       {report: fenceSeen(false, "update"), state: fenceNotSo, want: "The fence does not hold: system:serviceaccount:kube-system:cloud-controller-manager may update Leases"},
		"our objects were changed, and all is allowed": {report: changed, state: fenceNotSo, want: "kubectl auth can-i --list -n " +
			"kube-system --as=system:serviceaccount:"},
		"not known": {report: unknown, state: fenceUnknown, want: "not known whether the fence is open or closed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if tc.change != nil {
				tc.change(tc.report)
			}
			g.Expect(tc.report.Fence).To(Equal(tc.state))
			g.Expect(tc.report.meaning()).To(ContainSubstring(tc.want))
		})
	}
}

func TestFenceStatusIsAligned(t *testing.T) {
	g := NewWithT(t)
	report := fenceSeen(false)
	report.Paused, report.Meaning = true, "It means this."
	report.Deployments = []deployment{{Name: "kube-system/ccm", Available: true, Ready: 1, Replicas: 2}}
	report.Problems = []string{"reading something: forbidden"}
	out := &bytes.Buffer{}
	g.Expect(terminal.Write(out, "text", report, report.text(midday()))).To(Succeed())
	g.Expect(out.String()).To(Equal(`Cluster                          tenant/alpha (paused)
Identity of the CCM              system:serviceaccount:kube-system:cloud-controller-manager
KCM's silence                    not proven: its status says nothing
Fence                            Closed
  Role kube-system/lease         missing
  RoleBinding kube-system/lease  missing
  CCM may create its Lease       denied
  CCM may update its Lease       denied
Lease of the CCM                 kube-system/ccm: held by ccm-0, not renewed while this looked; last renewed 2026-01-01T11:59:00Z (60s ago by its own clock)
Lease of KCM                     kube-system/kcm: does not exist
Deployment of the CCM            kube-system/ccm: Available, 1 of 2 ready
Could not look                   reading something: forbidden

It means this.
`))
}

func TestSilenceDoubt(t *testing.T) {
	opened := &ucv1.HandoverStatus{FenceOpenedAt: new(metav1.NewTime(midday()))}
	condition := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: ucv1.HandoverCompletedCondition, Reason: reason, Message: "KCM is back."}}
	}
	for name, tc := range map[string]struct {
		status ucv1.ClusterStatus
		want   string
	}{
		"a migration that did not start": {want: "status.handover.fenceOpenedAt is not set"},
		"a fence that was never opened":  {status: ucv1.ClusterStatus{Facts: ucv1.Facts{Handover: &ucv1.HandoverStatus{}}}, want: "fenceOpenedAt is not set"},
		"a fence that was opened while KCM has the migration lock": {
			status: ucv1.ClusterStatus{
				Facts: ucv1.Facts{
					Handover: &ucv1.HandoverStatus{Protocol: ucv1.LeaderMigrationProtocol, FenceOpenedAt: opened.FenceOpenedAt},
				},
			},
			want: "status.handover.lockTakenAt is not set",
		},
		"a fence that was opened":            {status: ucv1.ClusterStatus{Facts: ucv1.Facts{Handover: opened}}},
		"a CCM that does not lead yet":       {status: ucv1.ClusterStatus{Facts: ucv1.Facts{Handover: opened}, Conditions: condition(ucv1.WaitingForLeaderReason)}},
		"loops that came back":               {status: ucv1.ClusterStatus{Facts: ucv1.Facts{Handover: opened}, Conditions: condition(ucv1.CloudLoopsContendedReason)}, want: "not any longer: KCM is back"},
		"a rollback":                         {status: ucv1.ClusterStatus{Facts: ucv1.Facts{Handover: opened, Rollback: &ucv1.RollbackStatus{}}}, want: "is being rolled back"},
		"a process that appeared afterwards": {status: ucv1.ClusterStatus{Facts: ucv1.Facts{Handover: opened}, Conditions: condition(ucv1.ProvingSilenceReason)}, want: "not any longer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := silenceDoubt(&ucv1.Cluster{Status: tc.status})
			if tc.want == "" {
				g.Expect(got).To(BeEmpty())
				return
			}
			g.Expect(got).To(ContainSubstring(tc.want))
		})
	}
}

func TestReopeningSaysWhatTheManagerDoes(t *testing.T) {
	const pause = `kubectl patch uc alpha -n tenant --type=merge -p '{"spec":{"paused":true}}'`
	deleted := func(c *ucv1.Cluster) { c.DeletionTimestamp = new(metav1.Now()) }
	for name, tc := range map[string]struct {
		change func(*ucv1.Cluster)
		says   []string
		never  string
	}{
		"one that stays": {func(*ucv1.Cluster) {}, []string{"opens the fence again by itself", "A Cluster that is deleted goes only " +
			"after that.", pause}, "is being deleted"},
		"one that is deleted": {
			deleted, []string{"opens the fence again by itself", "it goes when the CCM leads again, or at once with annotation " +
				"usercluster.k8c.io/abandon=true", pause}, "only after that",
		},
		"one that is deleted and abandoned": {func(c *ucv1.Cluster) {
			deleted(c)
			c.Annotations = map[string]string{ucv1.AbandonAnnotation: "true"}
		}, []string{"lets it go and leaves the fence closed"}, "again"},
		"one that is abandoned and not deleted": {
			func(c *ucv1.Cluster) { c.Annotations = map[string]string{ucv1.AbandonAnnotation: "true"} },
			[]string{"opens the fence again"}, "lets it go",
		},
		"one that is paused": {func(c *ucv1.Cluster) { c.Spec.Paused = true }, []string{"leaves the fence closed until you take " +
			"that back"}, "opens"},
		"one that another tool was given": {
			func(c *ucv1.Cluster) { c.Spec.Addons.Management = ucv1.ReleasedAddons }, []string{"leaves the fence closed, and a deleted " +
				"Cluster waits", "fence open"}, "by itself",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "alpha"}}
			tc.change(cluster)
			for _, words := range tc.says {
				g.Expect(reopening(cluster)).To(ContainSubstring(words))
			}
			g.Expect(reopening(cluster)).NotTo(ContainSubstring(tc.never))
		})
	}
}
