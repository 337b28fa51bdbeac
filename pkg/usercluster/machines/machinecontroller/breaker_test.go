package machinecontroller

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

func breakerRef() observation.Ref {
	return observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "md", UID: "md-uid"}
}

func rolls(value string, endless bool) outcome.Action {
	return outcome.Action{Objects: []observation.Ref{breakerRef()}, Versions: []string{"1"}, RestartValue: value, Endless: endless}
}

// asSeen has the version that the object has now.
func (s *Adapter) asSeen(t *testing.T, action outcome.Action) outcome.Action {
	t.Helper()
	live, err := reads.Live(t.Context(), s.client, machineObject(t, "MachineDeployment", "md", "{}"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	action.Versions = []string{live.GetResourceVersion()}
	return action
}

func TestBreakerTakesAndGivesBack(t *testing.T) {
	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2, minReadySeconds: 0, "+
		"template: {metadata: {}}}"))
	for _, step := range []struct {
		about  string
		action outcome.Action
		want   observation.Guard
		value  string
	}{
		{"rolling takes minReadySeconds in the same write", rolls("17", true), observation.Guard{MinReadySeconds: rollout.EndlessMinReadySeconds, MinReadyOurs: true}, "17"},
		{"giving back leaves the roll annotation", rolls("17", false), observation.Guard{}, "17"},
		{"a rollback takes nothing", rolls("18", false), observation.Guard{}, "18"},
		{"nothing is left", rolls("", false), observation.Guard{}, ""},
	} {
		g.Expect(s.roll(t.Context(), breakerRef(), s.asSeen(t, step.action))).To(Succeed(), step.about)
		live, err := reads.Live(t.Context(), s.client, machineObject(t, "MachineDeployment", "md", "{}"))
		g.Expect(err).NotTo(HaveOccurred())
		spec, _, _ := unstructured.NestedMap(live.Object, "spec")
		g.Expect(spec).To(HaveKeyWithValue("replicas", BeEquivalentTo(2)), "what is not ours stays")
		g.Expect(guardOf(live)).To(Equal(step.want), step.about)
		g.Expect(restartValue(live)).To(Equal(step.value), step.about)
	}
	g.Expect(s.roll(t.Context(), observation.Ref{Name: "md"}, rolls("17", true))).To(MatchError(ContainSubstring("UID")))
}

func TestWhatIsRolledIsAsItWasSeen(t *testing.T) {
	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2}"))
	action := s.asSeen(t, rolls("17", true))
	g.Expect(s.roll(t.Context(), breakerRef(), action)).To(Succeed())
	g.Expect(s.roll(t.Context(), breakerRef(), action)).To(MatchError(ContainSubstring("changed or deleted meanwhile")))
	action.Versions = nil
	g.Expect(s.roll(t.Context(), breakerRef(), action)).To(MatchError(ContainSubstring("resourceVersion are needed")))
}

func TestAStepLowersWhatWasSeen(t *testing.T) {
	ref := func(kind, name string) observation.Ref {
		return observation.Ref{Kind: kind, Namespace: "kube-system", Name: name, UID: name + "-uid"}
	}
	for name, tc := range map[string]struct {
		change func(*outcome.MachineSetStep)
		says   string
	}{
		"as it was seen":                                         {func(*outcome.MachineSetStep) {}, ""},
		"a MachineSet that was scaled since":                     {func(step *outcome.MachineSetStep) { step.Version = "1" }, "look again"},
		"a MachineDeployment that was changed, or paused, since": {func(step *outcome.MachineSetStep) { step.Generation = 8 }, "was changed meanwhile"},
		"another MachineDeployment of that name":                 {func(step *outcome.MachineSetStep) { step.Deployment.UID = "former" }, "was changed meanwhile"},
		"a MachineDeployment that is gone":                       {func(step *outcome.MachineSetStep) { step.Deployment.Name = "gone" }, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := adapterWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "{metadata: {generation: 7}, spec: "+
				"{replicas: 3}}"),
				machineObject(t, "MachineSet", "old", "spec: {replicas: 3}"))
			live, err := reads.Live(t.Context(), s.client, machineObject(t, "MachineSet", "old", "{}"))
			g.Expect(err).NotTo(HaveOccurred())
			step := outcome.MachineSetStep{
				Deployment: ref("MachineDeployment", "md"),
				Generation: 7,
				Version:    live.GetResourceVersion(),
				Replicas:   2,
			}
			tc.change(&step)
			err = s.step(t.Context(), outcome.Action{Objects: []observation.Ref{ref("MachineSet", "old")}, Step: &step})
			live, _ = reads.Live(t.Context(), s.client, machineObject(t, "MachineSet", "old", "{}"))
			if tc.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(integerOr(live, 0, "spec", "replicas")).To(BeEquivalentTo(2))
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			g.Expect(integerOr(live, 0, "spec", "replicas")).To(BeEquivalentTo(3))
		})
	}
}

func TestAMarkedMachineGoesFirst(t *testing.T) {
	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{}, machineObject(t, "Machine", "m", "{}"))
	g.Expect(s.mark(t.Context(), outcome.Action{
		Objects: []observation.Ref{machineRef("m")}, Step: &outcome.MachineSetStep{Deployment: breakerRef()},
	})).To(Succeed())
	live, err := reads.Live(t.Context(), s.client, machineObject(t, "Machine", "m", "{}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(toMachine(live).GoesFirst).To(BeTrue())
}

func TestLimitsAreResolvedAsTheMachineControllerDoes(t *testing.T) {
	for strategy, want := range map[string][]any{
		"{}": {int32(1), int32(0), ""},
		"{rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}": {int32(2), int32(1), ""},
		"{rollingUpdate: {maxSurge: 0, maxUnavailable: 10%}}":   {int32(0), int32(1), ""},
		"{rollingUpdate: {maxSurge: 0, maxUnavailable: 9}}":     {int32(0), int32(5), ""},
		"{rollingUpdate: {maxSurge: many}}":                     {int32(0), int32(0), `MachineDeployment kube-system/md: maxSurge "many" is no number and no percentage; correct it`},
		"{rollingUpdate: {maxSurge: 1, maxUnavailable: -1}}":    {int32(0), int32(0), `MachineDeployment kube-system/md: maxUnavailable "-1" is no number and no percentage; correct it`},
	} {
		surge, unavailable, problem := limitsOf(machineObject(t, "MachineDeployment", "md", "spec: {strategy: "+strategy+"}"), 5)
		NewWithT(t).Expect([]any{surge, unavailable, problem.Words}).To(Equal(want), strategy)
	}
}

func TestBreakerSeesWhoOwnsWhat(t *testing.T) {
	fields := func(manager string, operation metav1.ManagedFieldsOperationType, names string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager:    manager,
			Operation:  operation,
			FieldsType: "FieldsV1",
			FieldsV1:   metav1.NewFieldsV1(`{"f:spec":{` + names + `}}`),
		}
	}
	const minReady = `"f:minReadySeconds":{}`
	update, apply := metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	for name, tc := range map[string]struct {
		spec    string
		entries []metav1.ManagedFieldsEntry
		want    observation.Guard
	}{
		"no one owns anything": {spec: "{}"},
		"a 0 of an update is the default": {
			spec: "{minReadySeconds: 0}", entries: []metav1.ManagedFieldsEntry{fields("dashboard", update, minReady)},
		},
		"a 0 that was applied is a wish": {
			spec: "{minReadySeconds: 0}", entries: []metav1.ManagedFieldsEntry{fields("argocd", apply, minReady)},
			want: observation.Guard{MinReadyOwner: "argocd"},
		},
		"another value is a wish": {
			spec: "{minReadySeconds: 5}", entries: []metav1.ManagedFieldsEntry{fields("dashboard", update, minReady)},
			want: observation.Guard{MinReadySeconds: 5, MinReadyOwner: "dashboard"},
		},
		"a value that no one owns is a webhook's": {
			spec: "{minReadySeconds: 5}", want: observation.Guard{MinReadySeconds: 5, MinReadyOwner: "an admission webhook"},
		},
		"ours": {
			spec: "{minReadySeconds: 2147483647}", entries: []metav1.ManagedFieldsEntry{fields(ucv1.FieldManager, apply, minReady)},
			want: observation.Guard{MinReadySeconds: rollout.EndlessMinReadySeconds, MinReadyOurs: true},
		},
		"ours, and another one applies the same": {
			spec:    "{minReadySeconds: 2147483647}",
			entries: []metav1.ManagedFieldsEntry{fields(ucv1.FieldManager, apply, minReady), fields("argocd", apply, minReady)},
			want:    observation.Guard{MinReadySeconds: rollout.EndlessMinReadySeconds, MinReadyOurs: true, MinReadyOwner: "argocd"},
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
  metadata: {labels: {a: b, machine.k8s.io/controller: other}, annotations: {forceRestart: "1",
    x.machine-controller.kubermatic.io/y: z}},
  spec: {metadata: {name: n, labels: {pool: p}}, taints: [{key: t, effect: NoSchedule}], providerID: p,
    providerSpec: {value: {region: r}}}}}`)
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
			"metadata": map[string]any{
				"labels":      map[string]any{ucv1.CanaryLabel: "true", "machine.k8s.io/controller": "other"},
				"annotations": map[string]any{"x.machine-controller.kubermatic.io/y": "z"},
			},
			"spec": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{ucv1.CanaryLabel: "true", "pool": "p"}},
				"taints": []any{
					map[string]any{
						"key":    "t",
						"effect": "NoSchedule",
					},
					map[string]any{"key": ucv1.CanaryLabel, "value": "true", "effect": "PreferNoSchedule"},
				},
				"providerSpec": map[string]any{"value": map[string]any{"region": "r"}},
			},
		},
	}))
	_, err = canaryDeployment(machineObject(t, "MachineDeployment", "md", "spec: {}"))
	g.Expect(err).To(HaveOccurred())
}

func TestARollSaysWhatFailed(t *testing.T) {
	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{})
	s.client = failingApply(s.client.(client.WithWatch), errors.New("no"))
	g.Expect(s.roll(t.Context(), breakerRef(), rolls("17", true))).To(MatchError("roll MachineDeployment kube-system/md: no"))
}
