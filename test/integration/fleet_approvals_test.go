package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// person has the rights of some ClusterRoles of config/rbac and config/fleet-approvals, and no others.
func person(t *testing.T, name string, roles ...string) client.Client {
	t.Helper()
	g := NewWithT(t)
	for _, role := range roles {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "ccm-migration-controller-fleetmigration-" + role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		}
		g.Expect(suite.client.Create(t.Context(), binding)).To(Succeed())
	}
	config := suite.management.as("admin")
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	// The API server reads roles from a watch.
	g.Eventually(func() error { return c.List(t.Context(), &ucv1.FleetMigrationList{}) }, deadline, interval).Should(Succeed())
	return c
}

func approval(wave, digest string) ucv1.ApprovedWave {
	return ucv1.ApprovedWave{Wave: wave, GateDigest: digest}
}

func approvals(of ...ucv1.ApprovedWave) func(*ucv1.FleetMigration) {
	return func(fm *ucv1.FleetMigration) { fm.Spec.Approvals = of }
}

// approvalChanges of a FleetMigration whose waves canary and rest are approved.
func approvalChanges() map[string]func(*ucv1.FleetMigration) {
	return map[string]func(*ucv1.FleetMigration){
		"approves one more wave":  approvals(approval("canary", "9f2c"), approval("rest", "11aa"), approval("late", "77ff")),
		"approves another report": approvals(approval("canary", "9f2d"), approval("rest", "11aa")),
		"changes a reason": func(fm *ucv1.FleetMigration) {
			fm.Spec.Approvals[0].Reason = "CHG0042"
		},
		"removes an approval":    approvals(approval("canary", "9f2c")),
		"removes all approvals":  approvals(),
		"swaps one for another":  approvals(approval("canary", "9f2c"), approval("late", "11aa")),
		"moves a digest to late": approvals(approval("late", "9f2c"), approval("rest", "11aa")),
	}
}

// otherChanges leave the approvals as they are.
func otherChanges() map[string]func(*ucv1.FleetMigration) {
	return map[string]func(*ucv1.FleetMigration){
		"holds it": func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold },
		"runs it":  func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetRun },
		"adds a budget": func(fm *ucv1.FleetMigration) {
			fm.Spec.Budgets = []ucv1.FleetBudget{{Name: "all", MaxNodes: new(int32(9))}}
		},
		"soaks for longer":         func(fm *ucv1.FleetMigration) { fm.Spec.Waves[0].SoakSeconds = new(int32(7200)) },
		"asks for an approval":     func(fm *ucv1.FleetMigration) { fm.Spec.Waves[1].Approval = ucv1.WaveApprovalRequired },
		"looked at failures":       func(fm *ucv1.FleetMigration) { fm.Spec.Failures.CountSince = &metav1.Time{Time: time.Unix(3600, 0)} },
		"labels it":                func(fm *ucv1.FleetMigration) { fm.Labels = map[string]string{"team": "a"} },
		"lists them the other way": approvals(approval("rest", "11aa"), approval("canary", "9f2c")),
	}
}

// approvedFleet has three waves, of which two are approved.
func approvedFleet(name string) *ucv1.FleetMigration {
	fm := fleetOf(name)
	fm.Spec.Waves = append(fm.Spec.Waves, ucv1.Wave{Name: "late", ClusterSelector: &metav1.LabelSelector{}})
	approvals(approval("canary", "9f2c"), approval("rest", "11aa"))(fm)
	return fm
}

// asks for an answer about a change, which is not made.
func asks(t *testing.T, c client.Client, before *ucv1.FleetMigration, change func(*ucv1.FleetMigration)) error {
	t.Helper()
	after := before.DeepCopy()
	change(after)
	return c.Patch(t.Context(), after, client.MergeFrom(before), client.DryRunAll)
}

// waivers let a wave open without the approval that it asks for.
func waivers() map[string]func(*ucv1.FleetMigration) {
	return map[string]func(*ucv1.FleetMigration){
		"asks for none":         func(fm *ucv1.FleetMigration) { fm.Spec.Waves[2].Approval = ucv1.NoWaveApproval },
		"asks for nothing":      func(fm *ucv1.FleetMigration) { fm.Spec.Waves[2].Approval = "" },
		"removes the wave":      func(fm *ucv1.FleetMigration) { fm.Spec.Waves = fm.Spec.Waves[:2] },
		"gives it another name": func(fm *ucv1.FleetMigration) { fm.Spec.Waves[2].Name = "later" },
	}
}

func TestOnlyApproversTakeAnApprovalAway(t *testing.T) {
	t.Parallel()
	editor, both := person(t, "fleet-hurried", "editor"), person(t, "fleet-calm", "editor", "approver")
	fm := approvedFleet("asks")
	fm.Spec.Waves[2].Approval = ucv1.WaveApprovalRequired
	NewWithT(t).Expect(suite.client.Create(t.Context(), fm)).To(Succeed())
	for name, change := range waivers() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Eventually(func() error { return asks(t, editor, fm, change) }, deadline, interval).Should(And(
				Satisfy(apierrors.IsForbidden),
				MatchError(ContainSubstring("User fleet-hurried may not take the approval of wave late away from FleetMigration asks")),
			))
			g.Expect(asks(t, both, fm, change)).To(Succeed())
		})
	}
	for name, change := range otherChanges() {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(asks(t, editor, fm, change)).To(Succeed()) })
	}
}

func expectRefusedApproval(t *testing.T, attempt func() error, user, name string) {
	t.Helper()
	NewWithT(t).Eventually(attempt, deadline, interval).Should(And(
		Satisfy(apierrors.IsForbidden),
		MatchError(ContainSubstring("User "+user+" may not change spec.approvals of FleetMigration "+name+", which takes verb approve. "+
			"Ask someone who has it, or have an administrator bind ClusterRole ccm-migration-controller-fleetmigration-approver to you.")),
	))
}

func TestOnlyApproversChangeApprovals(t *testing.T) {
	t.Parallel()
	editor, approver := person(t, "fleet-editor", "editor"), person(t, "fleet-approver", "approver")
	fm := approvedFleet("four-eyes")
	NewWithT(t).Expect(suite.client.Create(t.Context(), fm)).To(Succeed())
	for name, change := range approvalChanges() {
		t.Run(name, func(t *testing.T) {
			expectRefusedApproval(t, func() error { return asks(t, editor, fm, change) }, "fleet-editor", fm.Name)
			NewWithT(t).Expect(asks(t, approver, fm, change)).To(Succeed())
		})
	}
	for name, change := range otherChanges() {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(asks(t, editor, fm, change)).To(Succeed())
		})
	}
	t.Run("deletes it", func(t *testing.T) {
		NewWithT(t).Expect(editor.Delete(t.Context(), fm.DeepCopy(), client.DryRunAll)).To(Succeed())
	})
	t.Run("gives the first approval", func(t *testing.T) {
		g := NewWithT(t)
		plain := fleetOf("plain")
		g.Expect(suite.client.Create(t.Context(), plain)).To(Succeed())
		first := approvals(approval("rest", "11aa"))
		expectRefusedApproval(t, func() error { return asks(t, editor, plain, first) }, "fleet-editor", plain.Name)
		g.Expect(asks(t, approver, plain, first)).To(Succeed())
	})
}

// Otherwise an editor would approve by deleting a FleetMigration and creating it again.
func TestOnlyApproversCreateWhatIsApproved(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	editor, both := person(t, "fleet-creator", "editor"), person(t, "fleet-chief", "editor", "approver")
	expectRefusedApproval(t, func() error {
		return editor.Create(t.Context(), approvedFleet("created"), client.DryRunAll)
	}, "fleet-creator", "created")
	expectRefusedApproval(t, func() error {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(approvedFleet("applied"))
		g.Expect(err).NotTo(HaveOccurred())
		fm := &unstructured.Unstructured{Object: content}
		fm.SetGroupVersionKind(ucv1.GroupVersion().WithKind("FleetMigration"))
		return editor.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(fm), client.FieldOwner("git"), client.DryRunAll)
	}, "fleet-creator", "applied")
	g.Expect(editor.Create(t.Context(), fleetOf("created"), client.DryRunAll)).To(Succeed())
	g.Eventually(func() error {
		return both.Create(t.Context(), approvedFleet("created"), client.DryRunAll)
	}, deadline, interval).Should(Succeed())
}
