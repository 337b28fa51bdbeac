package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func decode(g *WithT, raw string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	g.Expect(json.Unmarshal([]byte(raw), &out.Object)).To(Succeed())
	return out
}

func machine(annotations, spec string) string {
	return `{"apiVersion":"cluster.k8s.io/v1alpha1","kind":"Machine","metadata":{"name":"m1","annotations":` + annotations +
		`},"spec":` + spec + `}`
}

func TestStamp(t *testing.T) {
	tests := map[string]struct {
		raw      string
		external bool
		want     string
	}{
		"the flag stamps true": {machine(`{}`, `{"metadata":{}}`), true, "true"},
		"no flag stamps false": {machine(`{}`, `{"metadata":{}}`), false, "false"},
		"a value that was there is overridden": {
			machine(`{"`+machines.ExternalCloudProviderAnnotation+`":"true"}`, `{}`),
			false,
			"false",
		},
		"a Machine without metadata in spec works": {machine(`null`, `{}`), true, "true"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := decode(g, test.raw)
			g.Expect(stamp(object, test.external)).To(Succeed())
			g.Expect(object.GetAnnotations()).To(HaveKeyWithValue(machines.ExternalCloudProviderAnnotation, test.want))
			specName, _, err := unstructured.NestedString(object.Object, "spec", "metadata", "name")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(specName).To(Equal("m1"))
		})
	}
}

func TestCheckUpdate(t *testing.T) {
	bypass := `{"` + machines.BypassSpecAnnotation + `":"true"}`
	tests := map[string]struct {
		before, after string
		refused       bool
	}{
		"metadata may change freely": {
			machine(`{}`, `{"a":"1"}`),
			machine(`{"`+machines.ExternalCloudProviderAnnotation+`":"true"}`, `{"a":"1"}`),
			false,
		},
		"another spec is refused":    {machine(`{}`, `{"a":"1"}`), machine(`{}`, `{"a":"2"}`), true},
		"a removed field is refused": {machine(`{}`, `{"a":"1"}`), machine(`{}`, `{}`), true},
		"a first providerID is allowed": {
			machine(`{}`, `{"a":"1"}`),
			machine(`{}`, `{"a":"1","providerID":"p"}`),
			false,
		},
		"another providerID is refused": {
			machine(`{}`, `{"providerID":"p"}`),
			machine(`{}`, `{"providerID":"q"}`),
			true,
		},
		"a removed providerID is refused":       {machine(`{}`, `{"providerID":"p"}`), machine(`{}`, `{}`), true},
		"a first name is allowed":               {machine(`{}`, `{}`), machine(`{}`, `{"metadata":{"name":"m1"}}`), false},
		"other metadata of the spec is refused": {machine(`{}`, `{}`), machine(`{}`, `{"metadata":{"labels":{"a":"b"}}}`), true},
		"an empty creation time is no change": {
			machine(`{}`, `{"metadata":{"creationTimestamp":null}}`),
			machine(`{}`, `{}`),
			false,
		},
		"the bypass annotation allows one change": {machine(`{}`, `{"a":"1"}`), machine(bypass, `{"a":"2"}`), false},
		"a status written to the main resource passes": {
			machine(`{}`, `{"a":"1"}`),
			machine(`{}`, `{"a":"1"},"status":{"phase":"Running"}`),
			false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			after := decode(g, test.after)
			g.Expect(checkUpdate(decode(g, test.before), after) != nil).To(Equal(test.refused))
			g.Expect(after.GetAnnotations()).NotTo(HaveKey(machines.BypassSpecAnnotation))
		})
	}
}

func TestDefaultDeployment(t *testing.T) {
	spec := func(more string) string {
		return `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"unknown":{"kept":"yes"}}}` + more + `}}`
	}
	tests := map[string]struct {
		raw, wrong string
	}{
		"what is left out is filled":  {spec(""), ""},
		"another strategy is refused": {spec(`,"strategy":{"type":"OnDelete"}`), "OnDelete"},
		"surge and unavailable of 0 and 0": {
			spec(`,"strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"0%"}}`),
			"may not both be zero",
		},
		"negative replicas are refused":   {spec(`,"replicas":-1`), "negative"},
		"a selector that selects another": {`{"spec":{"selector":{"matchLabels":{"a":"c"}},"template":{}}}`, "must select"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := decode(g, test.raw)
			err := defaultDeployment(object)
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			fields, _, err := unstructured.NestedMap(object.Object, "spec")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fields).To(And(
				HaveKeyWithValue("replicas", int64(1)), HaveKeyWithValue("revisionHistoryLimit", int64(1)),
				HaveKeyWithValue("strategy", map[string]any{
					"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(1), "maxUnavailable": int64(0)},
				})))
			kept, _, err := unstructured.NestedString(object.Object, "spec", "template", "spec", "unknown", "kept")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(kept).To(Equal("yes"))
		})
	}
}

func agrees(context.Context, string) error { return nil }

// A cloud that does not answer keeps new Machines and every write of a MachineDeployment away, and nothing that goes.
func TestACloudThatDoesNotAnswerRefuses(t *testing.T) {
	silent := func(context.Context, string) error { return errors.New("simcloud answered 500") }
	deployment := `{"apiVersion":"cluster.k8s.io/v1alpha1","kind":"MachineDeployment","metadata":{"name":"d"},` +
		`"spec":{"replicas":1,` +
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{}}}}`
	going := strings.Replace(deployment, `"name":"d"`, `"name":"d","deletionTimestamp":"2026-01-01T00:00:00Z"`, 1)
	for name, test := range map[string]struct {
		handler   admission.Handler
		operation admissionv1.Operation
		raw       string
		allowed   bool
	}{
		"a new Machine":                         {machineHandler(true, silent), admissionv1.Create, machine(`{}`, `{}`), false},
		"a Machine that is there":               {machineHandler(true, silent), admissionv1.Update, machine(`{}`, `{}`), true},
		"a MachineDeployment that changes":      {deploymentHandler(silent), admissionv1.Update, deployment, false},
		"a MachineDeployment that goes":         {deploymentHandler(silent), admissionv1.Update, going, true},
		"a MachineDeployment, where it answers": {deploymentHandler(agrees), admissionv1.Update, deployment, true},
	} {
		t.Run(name, func(t *testing.T) {
			raw := runtime.RawExtension{Raw: []byte(test.raw)}
			response := test.handler.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: test.operation, Object: raw, OldObject: raw,
			}})
			NewWithT(t).Expect(response.Allowed).To(Equal(test.allowed), "%v", response.Result)
		})
	}
}

func TestMachineHandler(t *testing.T) {
	deleting := `{"apiVersion":"cluster.k8s.io/v1alpha1","kind":"Machine",` +
		`"metadata":{"name":"m1","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"a":"2"}}`
	tests := map[string]struct {
		operation     admissionv1.Operation
		before, after string
		allowed       bool
		patches       int
	}{
		"a new Machine is patched":          {admissionv1.Create, "", machine(`{"x":"y"}`, `{"metadata":{}}`), true, 2},
		"an unchanged Machine gets none":    {admissionv1.Update, machine(`{}`, `{"a":"1"}`), machine(`{}`, `{"a":"1"}`), true, 0},
		"a changed spec is denied":          {admissionv1.Update, machine(`{}`, `{"a":"1"}`), machine(`{}`, `{"a":"2"}`), false, 0},
		"a Machine in deletion is left be":  {admissionv1.Update, machine(`{}`, `{"a":"1"}`), deleting, true, 0},
		"what cannot be decoded is refused": {admissionv1.Create, "", `[]`, false, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			response := machineHandler(true, agrees).Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: test.operation,
				Object:    runtime.RawExtension{Raw: []byte(test.after)},
				OldObject: runtime.RawExtension{Raw: []byte(test.before)},
			}})
			g.Expect(response.Allowed).To(Equal(test.allowed))
			g.Expect(response.Patches).To(HaveLen(test.patches))
		})
	}
}
