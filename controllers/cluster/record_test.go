package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// writes are what a pass writes, in order, and the records among it.
type writes struct {
	order   []string
	records []*unstructured.Unstructured
	refuse  error
}

func (w *writes) client() client.Client {
	return fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			w.order, w.records = append(w.order, "record"), append(w.records, &unstructured.Unstructured{Object: content})
			return errors.Join(err, w.refuse)
		},
		SubResourceApply: func(
			context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption,
		) error {
			w.order = append(w.order, "status")
			return nil
		},
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			w.order = append(w.order, "finalizer")
			return nil
		},
	}).Build()
}

// newFact has a new fact to persist.
func newFact() *scope {
	c := passes.ClusterOf(ucv1.OriginMigrating)
	facts := c.Status.Facts.DeepCopy()
	facts.RollGeneration = "1767268800"
	s := passOf(c, migration.Decision{Step: ucv1.StepRoll, Facts: facts, Action: &outcome.Action{Kind: outcome.ActionRecord}})
	s.Observed.Keeper = observation.Known(
		observation.Ref{Kind: "Deployment", Namespace: c.Namespace, Name: "kube-controller-manager", UID: "kcm"},
	)
	s.Observed.Record = observation.Absent[observation.Record]()
	return s
}

func TestTheRecordIsNeverBehindTheStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		when   func(s *scope, w *writes)
		writes []string
		fails  bool
	}{
		"it is written first": {writes: []string{"record", "status"}},
		"one of an earlier fact is written again": {writes: []string{"record", "status"}, when: func(s *scope, _ *writes) {
			s.Observed.Record = observation.Known(*migration.RecordOf(s.Cluster, "kcm", s.Cluster.Status.Facts))
		}},
		"one that says the same is left alone": {writes: []string{"status"}, when: func(s *scope, _ *writes) {
			s.Observed.Record = observation.Known(*migration.RecordOf(s.Cluster, "kcm", *s.Decision.Facts))
		}},
		"without it, no status is written": {
			writes: []string{"record"}, fails: true, when: func(_ *scope, w *writes) { w.refuse = errors.New("quota") },
		},
		"while no one knows whose it is, no status is written": {
			fails: true, when: func(s *scope, _ *writes) { s.Observed.Keeper = observation.Unknown[observation.Ref]("timeout") },
		},
		"without a control plane there is none": {
			writes: []string{"status"}, when: func(s *scope, _ *writes) { s.Observed.Keeper = observation.Absent[observation.Ref]() },
		},
		"in-tree there is none": {
			writes: []string{"status"}, when: func(s *scope, _ *writes) { s.Decision.Facts.Origin = ucv1.OriginInTree },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w, told, s := &writes{}, newTold(t), newFact()
			told.reconciler.Client = w.client()
			if tc.when != nil {
				tc.when(s, w)
			}
			err := told.reconciler.reporter().report(t.Context(), s)
			g.Expect(err != nil).To(Equal(tc.fails), "%v", err)
			g.Expect(w.order).To(Equal(tc.writes))
		})
	}
}

func TestTheRecordOutlivesTheCluster(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w, told, s := &writes{}, newTold(t), newFact()
	told.reconciler.Client = w.client()
	s.Cluster.Status.Facts = *s.Decision.Facts
	g.Expect(told.reconciler.writer().release(t.Context(), s)).To(Succeed())
	g.Expect(w.order).To(Equal([]string{"record", "finalizer"}), "what someone deleted is written before the Cluster goes")
	owners := w.records[0].GetOwnerReferences()
	g.Expect(owners).To(ConsistOf(And(HaveField("Kind", "Deployment"), HaveField("UID", BeEquivalentTo("kcm")))))
	data, _, err := unstructured.NestedStringMap(w.records[0].Object, "data")
	g.Expect(err).NotTo(HaveOccurred())
	decoded := map[string][]byte{}
	for key, value := range data {
		decoded[key], err = base64.StdEncoding.DecodeString(value)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(migration.DecodeRecord(decoded).Facts.RollGeneration).To(Equal("1767268800"))

	s.Observed.Keeper = observation.Known(observation.Ref{Kind: "Secret", Name: "alpha-kubeconfig", UID: "kubeconfig"})
	g.Expect(told.reconciler.writer().release(t.Context(), s)).To(Succeed())
	g.Expect(w.records[1].GetOwnerReferences()).To(BeEmpty(), "a kubeconfig is made again with other credentials")
}
