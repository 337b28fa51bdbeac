package facts

import (
	"testing"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// validating is a webhook for Deployments that are made, with a Service.
func validating(change func(*admissionregistrationv1.ValidatingWebhook)) *admissionregistrationv1.ValidatingWebhookConfiguration {
	hook := admissionregistrationv1.ValidatingWebhook{
		Name: "hook.example",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: "policy", Name: "hook"},
		},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments", "deployments/scale"},
			},
		}},
	}
	change(&hook)
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook},
	}
}

func endpointsOfHook(ready *bool) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "policy", Name: "hook-1", Labels: map[string]string{discoveryv1.LabelServiceName: "hook"},
		},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ready}}},
	}
}

func answering() preflight.Webhook {
	return preflight.Webhook{
		Configuration: "ValidatingWebhookConfiguration policy", Name: "hook.example", Fails: true,
		Matches: []string{"deployments"}, Service: "policy/hook",
		Ready: observation.Known(true),
	}
}

func TestWebhooksThatTheAddonsPass(t *testing.T) {
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system",
		Labels: map[string]string{"kubernetes.io/metadata.name": "kube-system"}}}
	with := func(change func(*preflight.Webhook)) []preflight.Webhook {
		webhook := answering()
		change(&webhook)
		return []preflight.Webhook{webhook}
	}
	silent := func(w *preflight.Webhook) { w.Ready = observation.Known(false) }
	rule := func(change func(*admissionregistrationv1.RuleWithOperations)) func(*admissionregistrationv1.ValidatingWebhook) {
		return func(w *admissionregistrationv1.ValidatingWebhook) { change(&w.Rules[0]) }
	}
	selecting := func(label, value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{label: value}}
	}
	for name, tc := range map[string]struct {
		hook    func(*admissionregistrationv1.ValidatingWebhook)
		objects []client.Object
		want    []preflight.Webhook
	}{
		"no one answers":       {want: with(silent)},
		"someone answers":      {objects: []client.Object{endpointsOfHook(new(true))}, want: with(func(*preflight.Webhook) {})},
		"someone says nothing": {objects: []client.Object{endpointsOfHook(nil)}, want: with(func(*preflight.Webhook) {})},
		"someone is not ready": {objects: []client.Object{endpointsOfHook(new(false))}, want: with(silent)},
		"its failure is ignored": {hook: func(w *admissionregistrationv1.ValidatingWebhook) {
			w.FailurePolicy = new(admissionregistrationv1.Ignore)
		}, want: with(func(w *preflight.Webhook) { silent(w); w.Fails = false })},
		"it is an address": {hook: func(w *admissionregistrationv1.ValidatingWebhook) {
			w.ClientConfig.Service, w.ClientConfig.URL = nil, new("https://x")
		}, want: with(func(w *preflight.Webhook) { w.Service = "" })},
		"other resources": {hook: rule(func(r *admissionregistrationv1.RuleWithOperations) { r.Resources = []string{"jobs"} })},
		"what is deleted": {hook: rule(func(r *admissionregistrationv1.RuleWithOperations) {
			r.Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Delete}
		})},
		"other groups": {hook: rule(func(r *admissionregistrationv1.RuleWithOperations) { r.APIGroups = []string{"batch"} })},
		"what belongs to no namespace": {hook: rule(func(r *admissionregistrationv1.RuleWithOperations) {
			r.Scope = new(admissionregistrationv1.ClusterScope)
		})},
		"not kube-system":    {hook: func(w *admissionregistrationv1.ValidatingWebhook) { w.NamespaceSelector = selecting("team", "a") }},
		"objects of a label": {hook: func(w *admissionregistrationv1.ValidatingWebhook) { w.ObjectSelector = selecting("team", "a") }},
		"kube-system, by name": {
			hook: func(w *admissionregistrationv1.ValidatingWebhook) {
				w.NamespaceSelector = selecting("kubernetes.io/metadata.name", "kube-system")
			}, want: with(silent),
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			change := tc.hook
			if change == nil {
				change = func(*admissionregistrationv1.ValidatingWebhook) {}
			}
			s, _ := preflightWith(interceptor.Funcs{}, append(tc.objects, system, validating(change))...)
			webhooks := s.webhooks(t.Context())
			g.Expect(webhooks.IsKnown()).To(BeTrue(), webhooks.Why())
			g.Expect(webhooks.Value()).To(HaveLen(len(tc.want)))
			if len(tc.want) > 0 {
				g.Expect(webhooks.Value()).To(Equal(tc.want))
			}
		})
	}
}

func TestAMutatingWebhookForEverything(t *testing.T) {
	g := NewWithT(t)
	all := []string{"*"}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}
	s, _ := preflightWith(interceptor.Funcs{}, system, &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "all"}, Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "all.example", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://x")},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
				Rule:       admissionregistrationv1.Rule{APIGroups: all, APIVersions: all, Resources: all},
			}},
		}},
	})
	g.Expect(s.webhooks(t.Context()).Value()).To(ConsistOf(HaveField("Matches", HaveLen(len(addonResources())))))
}
