package fleetmigration_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/fleetmigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// world is a management cluster with one namespace, Clusters and FleetMigrations, and a manager that passes over them.
type world struct {
	t          *testing.T
	g          Gomega
	clock      *clocktesting.FakeClock
	client     client.WithWatch
	reconciler *fleetmigration.Reconciler
	events     *events.FakeRecorder
	// writes of the last pass in their order, as "admission a".
	writes []string
	// applied are the Clusters as they were applied.
	applied []*ucv1.Cluster
	// refuse is asked before each write.
	refuse func(write string) error
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t, g: NewWithT(t), clock: clocktesting.NewFakeClock(noon()), refuse: func(string) error { return nil }}
	scheme := runtime.NewScheme()
	w.g.Expect(errors.Join(clientgoscheme.AddToScheme(scheme), ucv1.AddToScheme(scheme))).To(Succeed())
	objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "user", Labels: map[string]string{"team": "x"}}})
	w.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(w.funcs()).
		WithStatusSubresource(&ucv1.Cluster{}, &ucv1.FleetMigration{}).Build()
	w.restart()
	return w
}

// restart puts another manager in the place of the old one, which remembers nothing.
func (w *world) restart() {
	w.t.Helper()
	metrics, err := fleetmigration.NewMetrics(prometheus.NewRegistry())
	w.g.Expect(err).NotTo(HaveOccurred())
	w.events = events.NewFakeRecorder(1000)
	w.reconciler = &fleetmigration.Reconciler{
		Client: w.client, Live: w.client, Clock: w.clock, Recorder: w.events, Metrics: metrics,
		CanMigrate: func(provider string) bool { return provider == "openstack" },
		Turns:      fleetmigration.NewTurns(w.client, fleet.Optional, false, &fleetmigration.Unmanaged{Most: 2}),
	}
}

func (w *world) funcs() interceptor.Funcs {
	noted := func(what string, do func() error) error {
		w.writes = append(w.writes, what)
		if err := w.refuse(what); err != nil {
			return err
		}
		return do()
	}
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			return noted("finalizer "+o.GetName(), func() error { return c.Patch(ctx, o, p, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			what, applies := "feature "+w.note(o), client.ApplyOptions{}
			if applies.ApplyOptions(options); applies.Force != nil && *applies.Force {
				what = "forced " + what
			}
			return noted(what, func() error { return c.Apply(ctx, o, options...) })
		},
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption,
		) error {
			return noted("status "+o.GetName(), func() error { return c.SubResource(sub).Update(ctx, o, options...) })
		},
		SubResourceApply: func(
			ctx context.Context, c client.Client, sub string, o runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			name := w.note(o)
			what := "admission " + name
			if w.applied[len(w.applied)-1].Status.Admission.State == ucv1.AdmissionQueued {
				what = "claim " + name
			}
			return noted(what, func() error {
				if err := c.SubResource(sub).Apply(ctx, o, options...); err != nil {
					return err
				}
				// An API server answers with the object; the fake one does not.
				return w.answered(ctx, o, name)
			})
		},
	}
}

// answered sets the version that a Cluster has after it was applied.
func (w *world) answered(ctx context.Context, o runtime.ApplyConfiguration, name string) error {
	c := &ucv1.Cluster{}
	err := w.client.Get(ctx, client.ObjectKey{Namespace: w.applied[len(w.applied)-1].Namespace, Name: name}, c)
	if versioned, ok := o.(interface{ SetResourceVersion(version string) }); ok {
		versioned.SetResourceVersion(c.ResourceVersion)
	}
	return err
}

// note what is applied, and return its name.
func (w *world) note(o runtime.ApplyConfiguration) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	w.g.Expect(err).NotTo(HaveOccurred())
	c := &ucv1.Cluster{}
	w.g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(content, c)).To(Succeed())
	w.applied = append(w.applied, c)
	return c.Name
}

func (w *world) pass() ctrl.Result {
	w.t.Helper()
	w.writes, w.applied = nil, nil
	result, err := w.reconciler.Reconcile(w.t.Context(), ctrl.Request{})
	w.g.Expect(err).NotTo(HaveOccurred())
	return result
}

func (w *world) get(name string) *ucv1.Cluster {
	w.t.Helper()
	c := &ucv1.Cluster{}
	w.g.Expect(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "user", Name: name}, c)).To(Succeed())
	return c
}

func (w *world) state(name string) ucv1.AdmissionState {
	w.t.Helper()
	if a := w.get(name).Status.Admission; a != nil {
		return a.State
	}
	return ""
}

func (w *world) fm() *ucv1.FleetMigration {
	w.t.Helper()
	fm := &ucv1.FleetMigration{}
	w.g.Expect(w.client.Get(w.t.Context(), client.ObjectKey{Name: "fm"}, fm)).To(Succeed())
	return fm
}

// oneByOne is a FleetMigration with one wave for all Clusters, of which one may migrate at once.
func oneByOne(changes ...func(*ucv1.FleetMigration)) *ucv1.FleetMigration {
	fm := &ucv1.FleetMigration{
		ObjectMeta: metav1.ObjectMeta{Name: "fm", UID: "uid-fm", CreationTimestamp: metav1.NewTime(noon())},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: selecting("tier", "canary"),
			Waves: []ucv1.Wave{{Name: "all", ClusterSelector: &metav1.LabelSelector{}}},
		},
	}
	for _, change := range changes {
		change(fm)
	}
	return fm
}

// candidate is a Cluster that was looked at and that nothing blocks.
func candidate(name string, changes ...func(*ucv1.Cluster)) *ucv1.Cluster {
	now := metav1.NewTime(noon())
	c := &ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "user", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"tier": "canary"}, Generation: 1,
		},
		Spec: ucv1.ClusterSpec{
			Version: "1.25.16", Features: ucv1.FeaturesSpec{ExternalCloudProvider: new(true)}, Cloud: ucv1.CloudSpec{ProviderName: "openstack"},
		},
		Status: ucv1.ClusterStatus{Nodes: &ucv1.NodeCount{Total: 3}},
	}
	c.Status.Origin = ucv1.OriginInTree
	c.Status.LookAhead = &ucv1.LookAheadStatus{LookedAt: &now, NextAt: &now, Generation: 1}
	meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: ucv1.ReadyToMigrateCondition, Status: metav1.ConditionTrue, Reason: ucv1.NothingBlocksReason, ObservedGeneration: 1,
		LastTransitionTime: now,
	})
	for _, change := range changes {
		change(c)
	}
	return c
}

func claimed(state ucv1.AdmissionState) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		c.Status.Admission = &ucv1.AdmissionStatus{FleetMigration: "fm", UID: "uid-fm", Wave: "all", State: state}
		if state == ucv1.AdmissionAdmitted {
			c.Status.Admission.AdmittedAt, c.Status.Admission.Directive = &metav1.Time{Time: noon()}, ucv1.DirectiveProceed
		}
	}
}

func startedAt(at time.Time) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Status.StartedAt = &metav1.Time{Time: at} }
}
