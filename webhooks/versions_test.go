package webhooks_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/webhooks"
)

const objection = "Kubernetes 1.25 is the last: migrate first (https://example.com)."

// versionJudge objects to 1.26 where it is new; it is asked for nothing but creations and updates.
func versionJudge() *webhooks.VersionJudge {
	return &webhooks.VersionJudge{Objections: func(before, after *ucv1.Cluster) string {
		if after.Spec.Version == "1.26.0" && (before == nil || before.Spec.Version != after.Spec.Version) {
			return objection
		}
		return ""
	}, Sharers: sharers}
}

// sharers of the control plane kcm are b, that of broken cannot be looked at, and all others have one of their own.
func sharers(_ context.Context, c *ucv1.Cluster) ([]string, error) {
	switch c.Spec.ControlPlane.KubeControllerManager.Name {
	case "kcm":
		return []string{"user-a/b"}, nil
	case "broken":
		return nil, errors.New("the cache is not synced")
	}
	return nil, nil
}

func TestASecondClusterOfAControlPlaneIsRefused(t *testing.T) {
	kcm := func(name string) func(*ucv1.Cluster) {
		return func(c *ucv1.Cluster) { c.Spec.ControlPlane.KubeControllerManager.Name = name }
	}
	for name, tc := range map[string]struct {
		request
		refused bool
		warns   string
	}{
		"that is created":                          {request{operation: admissionv1.Create, after: cluster(kcm("kcm"))}, true, ""},
		"one with its own is not":                  {request{operation: admissionv1.Create, after: cluster(kcm("own"))}, false, ""},
		"that moves there":                         {request{operation: admissionv1.Update, before: cluster(), after: cluster(kcm("kcm"))}, true, ""},
		"one that shares it already may change":    {request{operation: admissionv1.Update, before: cluster(kcm("kcm")), after: cluster(kcm("kcm"), feature(true))}, false, ""},
		"one that shares it already may leave":     {request{operation: admissionv1.Update, before: cluster(kcm("kcm")), after: cluster(kcm("own"))}, false, ""},
		"what cannot be looked at keeps none back": {request{operation: admissionv1.Create, after: cluster(kcm("broken"))}, false, "the cache is not synced"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			request := admissionv1.AdmissionRequest{Operation: tc.operation, Object: raw(g, tc.after)}
			if tc.before != nil {
				request.OldObject = raw(g, tc.before)
			}
			response := versionJudge().Handle(t.Context(), admission.Request{AdmissionRequest: request})
			g.Expect(response.Allowed).To(Equal(!tc.refused))
			if tc.refused {
				g.Expect(response.Result.Message).To(
					And(ContainSubstring("Cluster user-a/b has this control plane already"), ContainSubstring("spec.controlPlane")),
				)
			}
			if tc.warns == "" {
				g.Expect(response.Warnings).To(BeEmpty())
				return
			}
			g.Expect(response.Warnings).To(ConsistOf(ContainSubstring(tc.warns)))
		})
	}
}

func version(version string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Spec.Version = version }
}

func TestWhatHasNoEffectIsSaid(t *testing.T) {
	rollback := func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = true }
	planOnly := func(c *ucv1.Cluster) { c.Spec.Mode = ucv1.PlanOnlyMode }
	named := func(c *ucv1.Cluster) { c.Spec.Cloud.ClusterName = "foo" }
	started := func(c *ucv1.Cluster) {
		c.Status.StartedAt, c.Status.Inherited = new(metav1.Unix(1700000000, 0)), &ucv1.InheritedConfiguration{ClusterName: "prod"}
	}
	for name, tc := range map[string]struct {
		request
		says string
	}{
		"a rollback with the feature off":           {request{before: cluster(), after: cluster(rollback)}, "nothing to roll back"},
		"a rollback with the feature off, at first": {request{operation: admissionv1.Create, after: cluster(rollback)}, "nothing to roll back"},
		"a rollback that stood there":               {request{before: cluster(rollback), after: cluster(rollback)}, ""},
		"a rollback of a migration":                 {request{before: cluster(feature(true)), after: cluster(feature(true), rollback)}, ""},
		"a plan in the middle": {
			request{before: cluster(feature(true), started), after: cluster(feature(true), started, planOnly)}, "spec.paused: true",
		},
		"a plan before the start": {request{before: cluster(feature(true)), after: cluster(feature(true), planOnly)}, ""},
		"a cluster name in the middle": {
			request{before: cluster(feature(true), started), after: cluster(feature(true), started, named)}, "status.inherited",
		},
		"a plan that stood there": {
			request{before: cluster(feature(true), started, planOnly), after: cluster(feature(true), started, planOnly)}, "",
		},
		"a cluster name before the start": {request{before: cluster(), after: cluster(named)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if tc.operation == "" {
				tc.operation = admissionv1.Update
			}
			response := versionJudge().Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: tc.operation, OldObject: raw(g, tc.before), Object: raw(g, tc.after),
			}})
			g.Expect(response.Allowed).To(BeTrue())
			if tc.says == "" {
				g.Expect(response.Warnings).To(BeEmpty())
				return
			}
			g.Expect(response.Warnings).To(ConsistOf(ContainSubstring(tc.says)))
		})
	}
}

func TestVersionJudge(t *testing.T) {
	bad := version("1.26.0")
	for name, tc := range map[string]struct {
		request
		refused bool
	}{
		"a version that is refused is not created":       {request{operation: admissionv1.Create, after: cluster(bad)}, true},
		"another version is":                             {request{operation: admissionv1.Create, after: cluster()}, false},
		"no one gets to it":                              {request{operation: admissionv1.Update, before: cluster(), after: cluster(bad)}, true},
		"who is there already may change something else": {request{operation: admissionv1.Update, before: cluster(bad), after: cluster(bad, feature(true))}, false},
		"who is there may get labels": {
			request{operation: admissionv1.Update, before: cluster(bad), after: cluster(bad, annotated(map[string]string{"a": "b"}))},
			false,
		},
		"who is there may leave":                        {request{operation: admissionv1.Update, before: cluster(bad), after: cluster()}, false},
		"the last write of a deleted one is not judged": {request{operation: admissionv1.Update, before: cluster(deleted), after: cluster(deleted, bad)}, false},
		"a deletion is not judged":                      {request{operation: admissionv1.Delete, before: cluster(bad)}, false},
		"a write of the status is not judged":           {request{operation: admissionv1.Update, subResource: "status", before: cluster(), after: cluster(bad)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, dryRun := range []bool{false, true} {
				response := versionJudge().Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
					Operation:   tc.operation,
					SubResource: tc.subResource,
					DryRun:      &dryRun,
					OldObject:   raw(g, tc.before),
					Object:      raw(g, tc.after),
				}})
				g.Expect(response.Patches).To(BeEmpty())
				g.Expect(response.Allowed).To(Equal(!tc.refused), "dry-run %t", dryRun)
				if tc.refused {
					g.Expect(response.Result.Message).To(Equal(objection))
				}
			}
		})
	}
}

func TestVersionJudgeAdmitsWhatItCannotRead(t *testing.T) {
	g := NewWithT(t)
	unreadable := runtime.RawExtension{Raw: []byte(`{"spec":{"version":7}}`)}
	for name, request := range map[string]admissionv1.AdmissionRequest{
		"what is created":  {Operation: admissionv1.Create, Object: unreadable},
		"what there is":    {Operation: admissionv1.Update, OldObject: raw(g, cluster()), Object: unreadable},
		"what there was":   {Operation: admissionv1.Update, OldObject: unreadable, Object: raw(g, cluster(version("1.26.0")))},
		"an empty request": {Operation: admissionv1.Create},
	} {
		t.Run(name, func(t *testing.T) {
			response := versionJudge().Handle(t.Context(), admission.Request{AdmissionRequest: request})
			g := NewWithT(t)
			g.Expect(response.Allowed).To(BeTrue())
			g.Expect(response.Warnings).To(ConsistOf(ContainSubstring("the version rules were not looked at")))
		})
	}
}
