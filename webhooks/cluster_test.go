package webhooks_test

import (
	"context"
	"encoding/json"
	"testing"

	jsonpatchapply "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/webhooks"
)

// both is the promise, spelled out: the names are read by tools of operators.
func both() map[string]string {
	return map[string]string{
		"ccm-migration.k8c.io/migration-needed": "",
		"csi-migration.k8c.io/migration-needed": "",
	}
}

func with(annotations map[string]string, name, value string) map[string]string {
	annotations[name] = value
	return annotations
}

func cluster(mods ...func(*ucv1.Cluster)) *ucv1.Cluster {
	c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user-a", Name: "a"}}
	c.Spec.Version = "1.25.16"
	c.Spec.Cloud = ucv1.CloudSpec{ProviderName: "openstack", ConfigSecretRef: ucv1.SecretReference{Name: "a-cloud-config"}}
	for _, mod := range mods {
		mod(c)
	}
	return c
}

func feature(on bool) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = new(on) }
}

func provider(name string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Spec.Cloud.ProviderName = name }
}

func annotated(annotations map[string]string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Annotations = annotations }
}

func deleted(c *ucv1.Cluster) {
	at := metav1.Unix(1700000000, 0)
	c.DeletionTimestamp = &at
}

// request is an UPDATE of the main resource unless it says something else.
type request struct {
	operation   admissionv1.Operation
	subResource string
	before      *ucv1.Cluster
	after       *ucv1.Cluster
}

func TestAnnotatorStartsAMigration(t *testing.T) {
	blue := map[string]string{"team": "blue"}
	for name, tc := range map[string]struct {
		request
		want map[string]string
	}{
		"the feature goes from unset to true": {
			request{before: cluster(), after: cluster(feature(true))}, both(),
		},
		"the feature goes from false to true": {
			request{before: cluster(feature(false)), after: cluster(feature(true))}, both(),
		},
		"the object has other annotations": {
			request{before: cluster(annotated(blue)), after: cluster(annotated(blue), feature(true))},
			with(both(), "team", "blue"),
		},
		"the update brings one of the annotations": {
			request{before: cluster(), after: cluster(annotated(map[string]string{ucv1.CCMMigrationNeededAnnotation: ""}), feature(true))},
			both(),
		},
		"the update brings one of the annotations with another value": {
			request{
				before: cluster(), after: cluster(annotated(map[string]string{ucv1.CCMMigrationNeededAnnotation: "yes"}), feature(true)),
			},
			both(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectAnnotations(t, tc.request, tc.want)
		})
	}
}

func TestAnnotatorLeavesAlone(t *testing.T) {
	for name, tc := range map[string]request{
		"a feature that stays true":                  {before: cluster(feature(true)), after: cluster(feature(true))},
		"a feature that stays unset":                 {before: cluster(), after: cluster()},
		"a feature that goes to false":               {before: cluster(), after: cluster(feature(false))},
		"a provider with nothing to migrate from":    {before: cluster(provider("hetzner")), after: cluster(provider("hetzner"), feature(true))},
		"an object that is being deleted":            {before: cluster(deleted), after: cluster(deleted, feature(true))},
		"an object that is created with the feature": {operation: admissionv1.Create, after: cluster(feature(true))},
		"a write of the status":                      {subResource: "status", before: cluster(), after: cluster(feature(true))},
	} {
		t.Run(name, func(t *testing.T) {
			expectAnnotations(t, tc, nil)
		})
	}
}

// expectAnnotations compares the whole object: nothing but the annotations may change, in a dry-run and without.
func expectAnnotations(t *testing.T, r request, want map[string]string) {
	t.Helper()
	g := NewWithT(t)
	if r.operation == "" {
		r.operation = admissionv1.Update
	}
	for _, dryRun := range []bool{false, true} {
		got := handle(t.Context(), g, admissionv1.AdmissionRequest{
			Operation: r.operation, SubResource: r.subResource, DryRun: &dryRun,
			OldObject: raw(g, r.before), Object: raw(g, r.after),
		})
		wanted := r.after.DeepCopy()
		wanted.Annotations = want
		g.Expect(got).To(Equal(wanted), "dry-run %t", dryRun)
	}
}

func TestAnnotatorAdmitsWhatItCannotRead(t *testing.T) {
	g := NewWithT(t)
	response := annotator().Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Update,
		OldObject: runtime.RawExtension{Raw: []byte(`{"spec":{"version":7}}`)},
		Object:    raw(g, cluster(feature(true))),
	}})
	g.Expect(response.Allowed).To(BeTrue())
	g.Expect(response.Patches).To(BeEmpty())
	g.Expect(response.Warnings).To(ConsistOf(ContainSubstring("the controller will add them")))
}

func TestAnnotatorKeepsFieldsThatItDoesNotKnow(t *testing.T) {
	g := NewWithT(t)
	after := []byte(`{"metadata":{"name":"a"},"spec":{"cloud":{"providerName":"openstack"},` +
		`"features":{"externalCloudProvider":true},"later":{"field":[1]}}}`)
	response := annotator().Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Update,
		OldObject: runtime.RawExtension{Raw: []byte(`{"spec":{"cloud":{"providerName":"openstack"}}}`)},
		Object:    runtime.RawExtension{Raw: after},
	}})
	g.Expect(apply(g, response, after)).To(MatchJSON(`{"metadata":{"name":"a","annotations":` +
		`{"ccm-migration.k8c.io/migration-needed":"","csi-migration.k8c.io/migration-needed":""}},` +
		`"spec":{"cloud":{"providerName":"openstack"},"features":{"externalCloudProvider":true},"later":{"field":[1]}}}`))
}

func annotator() *webhooks.Annotator {
	return &webhooks.Annotator{CanMigrate: func(provider string) bool { return provider == "openstack" }}
}

// handle returns the object as the API server would store it.
func handle(ctx context.Context, g *WithT, request admissionv1.AdmissionRequest) *ucv1.Cluster {
	response := annotator().Handle(ctx, admission.Request{AdmissionRequest: request})
	g.Expect(response.Allowed).To(BeTrue())
	got := &ucv1.Cluster{}
	g.Expect(json.Unmarshal(apply(g, response, request.Object.Raw), got)).To(Succeed())
	return got
}

func apply(g *WithT, response admission.Response, document []byte) []byte {
	g.Expect(response.Complete(admission.Request{})).To(Succeed())
	if len(response.Patch) == 0 {
		return document
	}
	patch, err := jsonpatchapply.DecodePatch(response.Patch)
	g.Expect(err).NotTo(HaveOccurred())
	patched, err := patch.Apply(document)
	g.Expect(err).NotTo(HaveOccurred())
	return patched
}

func raw(g *WithT, c *ucv1.Cluster) runtime.RawExtension {
	if c == nil {
		return runtime.RawExtension{}
	}
	content, err := json.Marshal(c)
	g.Expect(err).NotTo(HaveOccurred())
	return runtime.RawExtension{Raw: content}
}
