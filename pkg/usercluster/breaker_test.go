package usercluster

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

func breakerRef() migration.Ref {
	return migration.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "md", UID: "md-uid"}
}

func TestBreakerTakesAndGivesBack(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2, minReadySeconds: 0, template: {metadata: {}}}"))
	look := func() (guard migration.Guard, paused any) {
		live, err := s.get(t.Context(), machineObject(t, "MachineDeployment", "md", "{}"))
		g.Expect(err).NotTo(HaveOccurred())
		spec, _, _ := unstructured.NestedMap(live.Object, "spec")
		g.Expect(spec).To(HaveKeyWithValue("replicas", BeEquivalentTo(2)), "what is not ours stays")
		return guardOf(live), spec["paused"]
	}
	for _, step := range []struct {
		about  string
		fields migration.BreakerFields
		want   migration.Guard
		paused any
	}{
		{"taking minReadySeconds", migration.BreakerFields{MinReadySeconds: new(int32(270))}, migration.Guard{MinReadySeconds: 270, MinReadyOurs: true}, nil},
		{"pausing", migration.BreakerFields{MinReadySeconds: new(int32(270)), Paused: true}, migration.Guard{MinReadySeconds: 270, MinReadyOurs: true, PausedByUs: true}, true},
		{"unpausing", migration.BreakerFields{MinReadySeconds: new(int32(270))}, migration.Guard{MinReadySeconds: 270, MinReadyOurs: true}, nil},
		{"giving back", migration.BreakerFields{}, migration.Guard{}, nil},
		{"pausing only", migration.BreakerFields{Paused: true}, migration.Guard{PausedByUs: true}, true},
		{"giving the pause back", migration.BreakerFields{}, migration.Guard{}, nil},
	} {
		g.Expect(s.ApplyBreaker(t.Context(), breakerRef(), step.fields)).To(Succeed(), step.about)
		guard, paused := look()
		g.Expect(guard.AppliedAt.IsZero()).To(Equal(!guard.MinReadyOurs && !guard.PausedByUs), step.about)
		guard.AppliedAt = time.Time{}
		g.Expect(guard).To(Equal(step.want), step.about)
		if step.paused == nil {
			g.Expect(paused).To(BeNil(), step.about)
		} else {
			g.Expect(paused).To(Equal(step.paused), step.about)
		}
	}
	g.Expect(s.ApplyBreaker(t.Context(), migration.Ref{Name: "md"}, migration.BreakerFields{})).To(MatchError(ContainSubstring("UID")))
}

func TestBreakerLeavesTheRollAnnotation(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2}"))
	g.Expect(s.ApplyBreaker(t.Context(), breakerRef(), migration.BreakerFields{MinReadySeconds: new(int32(270))})).To(Succeed())
	g.Expect(s.RollMachineDeployment(t.Context(), breakerRef(), "17")).To(Succeed())
	g.Expect(s.ApplyBreaker(t.Context(), breakerRef(), migration.BreakerFields{})).To(Succeed())
	live, err := s.get(t.Context(), machineObject(t, "MachineDeployment", "md", "{}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(restartValue(live)).To(Equal("17"))
}

func TestBreakerSeesWhoOwnsWhat(t *testing.T) {
	fields := func(manager string, operation metav1.ManagedFieldsOperationType, names string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{` + names + `}}`)}
	}
	const minReady, paused = `"f:minReadySeconds":{}`, `"f:paused":{}`
	update, apply := metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	for name, tc := range map[string]struct {
		spec    string
		entries []metav1.ManagedFieldsEntry
		want    migration.Guard
	}{
		"nobody owns anything": {spec: "{}"},
		"a 0 of an update is the default": {
			spec: "{minReadySeconds: 0}", entries: []metav1.ManagedFieldsEntry{fields("dashboard", update, minReady)},
		},
		"a 0 that was applied is a wish": {
			spec: "{minReadySeconds: 0}", entries: []metav1.ManagedFieldsEntry{fields("argocd", apply, minReady)}, want: migration.Guard{MinReadyOwner: "argocd"},
		},
		"another value is a wish": {
			spec: "{minReadySeconds: 5}", entries: []metav1.ManagedFieldsEntry{fields("dashboard", update, minReady)},
			want: migration.Guard{MinReadySeconds: 5, MinReadyOwner: "dashboard"},
		},
		"a value that nobody owns is a webhook's": {
			spec: "{minReadySeconds: 5}", want: migration.Guard{MinReadySeconds: 5, MinReadyOwner: "an admission webhook"},
		},
		"ours": {
			spec:    "{minReadySeconds: 270, paused: true}",
			entries: []metav1.ManagedFieldsEntry{fields(ucv1.BreakerFieldManager, apply, minReady+","+paused)},
			want:    migration.Guard{MinReadySeconds: 270, MinReadyOurs: true, PausedByUs: true},
		},
		"a pause that somebody else wants, too, is theirs": {
			spec: "{paused: true}", entries: []metav1.ManagedFieldsEntry{fields(ucv1.BreakerFieldManager, apply, paused), fields("argocd", apply, paused)},
		},
		"a pause of a person": {spec: "{paused: true}", entries: []metav1.ManagedFieldsEntry{fields("kubectl", update, paused)}},
		"what was taken out of our hands": {
			spec: "{paused: false}", entries: []metav1.ManagedFieldsEntry{fields("kubectl", update, paused)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := machineObject(t, "MachineDeployment", "md", "spec: "+tc.spec)
			object.SetManagedFields(tc.entries)
			NewWithT(t).Expect(guardOf(object)).To(Equal(tc.want))
		})
	}
}

func TestCanaryIsLikeItsTarget(t *testing.T) {
	g := NewWithT(t)
	source := machineObject(t, "MachineDeployment", "md", `
metadata: {labels: {a: b}, annotations: {k8c.io/operating-system-profile: osp-ubuntu, argocd.argoproj.io/tracking-id: x,
  cluster.k8s.io/cluster-api-autoscaler-node-group-min-size: "1", machinedeployment.clusters.k8s.io/revision: "3"}}
spec: {replicas: 7, paused: true, minReadySeconds: 9, selector: {matchLabels: {a: b}}, template: {
  metadata: {labels: {a: b}, annotations: {forceRestart: "1", x.machine-controller.kubermatic.io/y: z}},
  spec: {metadata: {name: n, labels: {pool: p}}, taints: [{key: t, effect: NoSchedule}], providerID: p, providerSpec: {value: {region: r}}}}}`)
	before := source.DeepCopy()
	canary, err := canaryDeployment(source)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(source).To(Equal(before))
	g.Expect(canary.GetNamespace() + "/" + canary.GetName()).To(Equal("kube-system/ccm-migration-canary"))
	g.Expect(canary.GetUID()).To(BeEmpty())
	g.Expect(canary.GetAnnotations()).To(Equal(map[string]string{"k8c.io/operating-system-profile": "osp-ubuntu"}))
	ours := map[string]any{ucv1.CanaryLabel: "true"}
	g.Expect(canary.Object["spec"]).To(Equal(map[string]any{
		"replicas": int64(1), "paused": false, "selector": map[string]any{"matchLabels": ours},
		"template": map[string]any{
			"metadata": map[string]any{"labels": ours, "annotations": map[string]any{"x.machine-controller.kubermatic.io/y": "z"}},
			"spec": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{ucv1.CanaryLabel: "true", "pool": "p"}},
				"taints": []any{
					map[string]any{"key": "t", "effect": "NoSchedule"}, map[string]any{"key": ucv1.CanaryLabel, "value": "true", "effect": "PreferNoSchedule"},
				},
				"providerSpec": map[string]any{"value": map[string]any{"region": "r"}},
			},
		},
	}))
	_, err = canaryDeployment(machineObject(t, "MachineDeployment", "md", "spec: {}"))
	g.Expect(err).To(HaveOccurred())
}

func TestApplyBreakerSaysWhatFailed(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{})
	s.client = failingApply(s.client.(client.WithWatch), errors.New("no"))
	g.Expect(s.ApplyBreaker(t.Context(), breakerRef(), migration.BreakerFields{})).To(MatchError("guard MachineDeployment kube-system/md: no"))
}
