package conformance

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func argo(t *testing.T) *Argo {
	t.Helper()
	a, err := NewArgo()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return a
}

func objectOf(t *testing.T, kind string, of any) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(ucv1.GroupVersion().WithKind(kind))
	return object
}

func is(kind string, status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: "Because", Message: "It is so."}
}

func TestArgoSaysOfAFleetMigrationWhatKStatusSays(t *testing.T) {
	gone := metav1.Now()
	for name, test := range map[string]struct {
		change func(*ucv1.FleetMigration)
		health string
	}{
		"it runs": {func(fm *ucv1.FleetMigration) {
			fm.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "False"), is(ucv1.ReconcilingCondition, "True")}
		}, "Progressing"},
		"it halted": {func(fm *ucv1.FleetMigration) {
			fm.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "False"), is(ucv1.StalledCondition, "True")}
		}, "Degraded"},
		"a person holds it": {func(fm *ucv1.FleetMigration) {
			fm.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "False")}
		}, "Progressing"},
		"it has passed": {func(fm *ucv1.FleetMigration) {
			fm.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "True")}
		}, "Healthy"},
		"its spec was changed since": {func(fm *ucv1.FleetMigration) {
			fm.Generation = 2
			fm.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "True")}
		}, "Progressing"},
		"it is being deleted": {func(fm *ucv1.FleetMigration) {
			fm.DeletionTimestamp = &gone
			fm.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "True")}
		}, "Progressing"},
	} {
		t.Run(name, func(t *testing.T) {
			g, fm := NewWithT(t), &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: "north", Generation: 1}}
			fm.Status.ObservedGeneration = 1
			test.change(fm)
			object := objectOf(t, "FleetMigration", fm)
			health, err := argo(t).Health(object)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(health.Status).To(Equal(test.health))
			verdict, err := kstatus.Compute(object)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(agrees(verdict.Status, health.Status)).To(BeTrue(), "kstatus says %s", verdict.Status)
		})
	}
}

// What no controller looked at is not Healthy, although kstatus says so.
func TestArgoDoesNotTrustAnObjectWithoutStatus(t *testing.T) {
	for _, kind := range []string{"Cluster", "FleetMigration"} {
		object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "new", "generation": int64(1)}}}
		object.SetGroupVersionKind(ucv1.GroupVersion().WithKind(kind))
		health, err := argo(t).Health(object)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(health.Status).To(Equal("Progressing"))
	}
}

func TestAVerdictThatDiffersIsNoticed(t *testing.T) {
	g, c := NewWithT(t), &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a", Generation: 1}}
	c.Status.ObservedGeneration = 1
	c.Status.Conditions = []metav1.Condition{is(ucv1.ReadyCondition, "False"), is(ucv1.StalledCondition, "True")}
	o, checker := &objections{}, &Checker{argo: argo(t)}
	checker.checkArgo(o, c)
	g.Expect(*o).To(BeEmpty())
	checker.argo.data["resource.customizations.health.usercluster.k8c.io_Cluster"] = `return { status = "Healthy", message = "" }`
	checker.checkArgo(o, c)
	g.Expect(*o).To(ConsistOf(ContainSubstring("Argo CD says Healthy")))
}

func TestActionsOfAClusterInArgo(t *testing.T) {
	g, a := NewWithT(t), argo(t)
	c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: "a"}, Spec: ucv1.ClusterSpec{Version: "1.30.14"}}
	disabled, err := a.Actions(objectOf(t, "Cluster", c))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(disabled).To(Equal(map[string]bool{"pause": true, "resume": true, "approve-plan": true}))

	c.Spec.Features.ExternalCloudProvider, c.Status.Plan = new(true), &ucv1.PlanStatus{Digest: "d1"}
	disabled, err = a.Actions(objectOf(t, "Cluster", c))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(disabled).To(Equal(map[string]bool{"pause": false, "resume": true, "approve-plan": false}))

	act := func(action string) {
		after, err := a.Act(objectOf(t, "Cluster", c), action)
		g.Expect(err).NotTo(HaveOccurred())
		c = &ucv1.Cluster{}
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after.Object, c, true)).To(Succeed())
	}
	act("pause")
	g.Expect(c.Spec.Paused).To(BeTrue())
	act("approve-plan")
	g.Expect(c.Spec.Approval.PlanDigest).To(Equal("d1"))
	disabled, err = a.Actions(objectOf(t, "Cluster", c))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(disabled).To(Equal(map[string]bool{"pause": true, "resume": false, "approve-plan": true}))
	act("resume")
	g.Expect(c.Spec.Paused).To(BeFalse())
	_, err = a.Act(objectOf(t, "Cluster", c), "delete-everything")
	g.Expect(err).To(MatchError("there is no action delete-everything"))
}

func TestActionsOfAFleetMigrationInArgo(t *testing.T) {
	g, a := NewWithT(t), argo(t)
	fm := &ucv1.FleetMigration{ObjectMeta: metav1.ObjectMeta{Name: "north"}, Spec: ucv1.FleetMigrationSpec{
		Mode: ucv1.FleetRun, Approvals: []ucv1.ApprovedWave{{Wave: "canary", GateDigest: "old"}, {Wave: "rest", GateDigest: "stale"}},
	}}
	fm.Status.Waves = []ucv1.WaveStatus{
		{Name: "canary", State: ucv1.WavePassed}, {Name: "prod", State: ucv1.WaveAwaitingApproval, Gate: &ucv1.GateStatus{Digest: "d2"}},
		{Name: "rest", State: ucv1.WaveWaiting},
	}
	disabled, err := a.Actions(objectOf(t, "FleetMigration", fm))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(disabled).To(Equal(map[string]bool{"hold": false, "run": true, "resume": true, "approve-wave": false}))

	fm.Status.Halt = &ucv1.FleetHalt{Reason: ucv1.MaxFailuresExceededReason}
	act := func(action string) {
		after, err := a.Act(objectOf(t, "FleetMigration", fm), action)
		g.Expect(err).NotTo(HaveOccurred())
		fm = &ucv1.FleetMigration{}
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after.Object, fm, true)).To(Succeed())
	}
	act("approve-wave")
	g.Expect(fm.Spec.Approvals).To(Equal([]ucv1.ApprovedWave{
		{Wave: "canary", GateDigest: "old"}, {Wave: "prod", GateDigest: "d2"}, {Wave: "rest", GateDigest: "stale"},
	}), "nothing else is approved")
	act("resume")
	g.Expect(fm.Spec.Failures.CountSince.Time).To(BeTemporally("~", time.Now(), time.Minute))
	act("hold")
	g.Expect(fm.Spec.Mode).To(Equal(ucv1.FleetHold))
	disabled, err = a.Actions(objectOf(t, "FleetMigration", fm))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(disabled).To(HaveKeyWithValue("resume", false))
	act("run")
	g.Expect(fm.Spec.Mode).To(Equal(ucv1.FleetRun))
}
