package cluster

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// written is a controller whose statuses are caught: each is answered by the next of the errors, nil when there is none.
type written struct {
	told
	clock    *clocktesting.FakeClock
	statuses []ucv1.ClusterStatus
}

func newWritten(t *testing.T, cluster *ucv1.Cluster, answers ...error) *written {
	t.Helper()
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(ucv1.AddToScheme(scheme)).To(Succeed())
	w := &written{told: newTold(t), clock: clocktesting.NewFakeClock(passes.Start())}
	w.reconciler.Clock = w.clock
	w.reconciler.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceApply: func(
			_ context.Context, _ client.Client, _ string, applied runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption,
		) error {
			if at := len(w.statuses); at < len(answers) && answers[at] != nil {
				w.statuses = append(w.statuses, ucv1.ClusterStatus{})
				return answers[at]
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(applied)
			g.Expect(err).NotTo(HaveOccurred())
			status := ucv1.ClusterStatus{}
			inner, _, err := unstructured.NestedMap(content, "status")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(inner, &status)).To(Succeed())
			w.statuses = append(w.statuses, status)
			return nil
		},
	}).Build()
	w.reconciler.Observer = observerOf(t, w.reconciler.Client, w.reconciler.Client)
	w.reconciler.Planner = NewPlanner(w.reconciler.Observer, w.reconciler.Client, nil, w.clock)
	return w
}

func (w *written) reconcile(cluster *ucv1.Cluster) (ctrl.Result, error) {
	return w.reconciler.Reconcile(context.Background(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(cluster)})
}

func (w *written) last() *ucv1.Cluster {
	return &ucv1.Cluster{Status: w.statuses[len(w.statuses)-1]}
}

// migrated is a Cluster of which all was well in the last pass.
func migrated() *ucv1.Cluster {
	cluster := passes.ClusterOf(ucv1.OriginMigrating, passes.Completed)
	cluster.Finalizers = []string{ucv1.ClusterFinalizer}
	cluster.Status.Conditions = []metav1.Condition{
		{Type: ucv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: ucv1.MigratedReason, Message: "All is well."},
		{Type: ucv1.CSIReadyCondition, Status: metav1.ConditionTrue, Reason: ucv1.HoldsReason, Message: "It holds."},
	}
	return cluster
}

// A controller without connections to user clusters panics as soon as it looks for one.
func TestAPassThatPanicsIsSaidAndNotRepeated(t *testing.T) {
	g := NewWithT(t)
	cluster := migrated()
	cluster.Status.Conditions = append(cluster.Status.Conditions, metav1.Condition{
		Type: ucv1.CloudLoopsAttendedCondition, Status: metav1.ConditionTrue, Reason: ucv1.AttendedReason, Message: "The CCM leads.",
	})
	w := newWritten(t, cluster)

	next, err := w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.RequeueAfter).To(BeNumerically(">=", resting))
	g.Expect(passes.Condition(w.last(), ucv1.CloudLoopsAttendedCondition)).To(And(HaveField("Status", metav1.ConditionUnknown),
		HaveField("Reason", ucv1.InternalErrorReason)), "it is not looked at any more")
	g.Expect(passes.Condition(w.last(), ucv1.ReadyCondition)).To(
		And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", ucv1.InternalErrorReason)),
	)
	g.Expect(passes.Condition(w.last(), ucv1.StalledCondition)).To(
		And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", ucv1.InternalErrorReason)),
	)
	g.Expect(passes.Condition(w.last(), ucv1.CSIReadyCondition).Message).To(Equal("It holds."), "what was said last stays")
	g.Expect(w.last().Status.CompletedAt).NotTo(BeNil())
	g.Expect(w.events()).To(ConsistOf(HavePrefix("Warning InternalError")))
	g.Expect(w.series(t)).To(HaveKeyWithValue("ccm_migration_stalled_total InternalError", 1.0))

	w.clock.Step(resting / 2)
	next, err = w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.RequeueAfter).To(And(BeNumerically(">=", resting/2), BeNumerically("<", resting)))
	g.Expect(w.statuses).To(HaveLen(1), "nothing was done")

	w.clock.Step(resting)
	_, err = w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.statuses).To(HaveLen(2), "it is tried again after a while")

	g.Expect(w.reconciler.Client.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
	cluster.Generation++
	g.Expect(w.reconciler.Client.Update(t.Context(), cluster)).To(Succeed())
	_, err = w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.statuses).To(HaveLen(3), "and at once when the Cluster was changed")
}

func TestAPanicIsSaidInTheNextPassWhenTheStatusWasChangedMeanwhile(t *testing.T) {
	g := NewWithT(t)
	cluster := migrated()
	w := newWritten(t, cluster, apierrors.NewConflict(schema.GroupResource{}, cluster.Name, errors.New("changed")))
	next, err := w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.RequeueAfter).To(Equal(afterVerb))
	_, err = w.reconcile(cluster)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passes.Condition(w.last(), ucv1.StalledCondition).Reason).To(Equal(ucv1.InternalErrorReason))
}

func TestTheTextOfAPanicIsNotLogged(t *testing.T) {
	g := NewWithT(t)
	g.Expect(kindOf("token abc")).To(MatchError("panic with a string"))
	g.Expect(kindOf(errors.New("token abc"))).To(MatchError("panic with a *errors.errorString"))
	defer func() { g.Expect(kindOf(recover())).To(MatchError(ContainSubstring("out of range"))) }()
	_ = []int{}[len("a"):][0]
}

func TestAStatusThatIsRefused(t *testing.T) {
	content := apierrors.NewBadRequest("error decoding YAML: yaml: control characters are not allowed")
	schemaOld := apierrors.NewInternalError(errors.New("failed to create typed patch object: .status.new: field not declared in " +
		"schema"))
	inTree := passes.ClusterOf(ucv1.OriginInTree)
	inTree.Status.Conditions = []metav1.Condition{
		{Type: ucv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: ucv1.InTreeReason, Message: "Old."},
	}
	for name, tc := range map[string]struct {
		answers []error
		ready   metav1.Condition
		fails   bool
		writes  int
	}{
		"for its content is written without messages": {
			answers: []error{content}, writes: 2,
			ready: metav1.Condition{Status: metav1.ConditionUnknown, Reason: ucv1.CouldNotLookReason, Message: status.NotShown},
		},
		"by a definition that is too old says so": {
			answers: []error{schemaOld, schemaOld}, writes: 3, fails: true,
			ready: metav1.Condition{Status: metav1.ConditionUnknown, Reason: ucv1.StatusRefusedReason},
		},
		"for another reason is an error": {answers: []error{apierrors.NewInternalError(errors.New("etcd"))}, writes: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWritten(t, inTree.DeepCopy(), tc.answers...)
			_, err := w.reconcile(inTree)
			g.Expect(err != nil).To(Equal(tc.fails))
			g.Expect(w.statuses).To(HaveLen(tc.writes))
			ready := passes.Condition(w.last(), ucv1.ReadyCondition)
			g.Expect(ready.Status).To(Equal(tc.ready.Status))
			g.Expect(ready.Reason).To(Equal(tc.ready.Reason))
			g.Expect(ready.Message).To(ContainSubstring(tc.ready.Message))
		})
	}
}
