package facts

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// addonResource is a resource that our addons have, or that is made of them.
type addonResource struct {
	group, resource string
	cluster         bool
}

func addonResources() []addonResource {
	return []addonResource{
		{
			group:    "apps",
			resource: "deployments",
		},
		{group: "apps", resource: "daemonsets"},
		{resource: "pods"},
		{resource: "serviceaccounts"},
		{resource: "secrets"},
		{resource: "configmaps"},
		{group: "rbac.authorization.k8s.io", resource: "roles"},
		{group: "rbac.authorization.k8s.io", resource: "rolebindings"},
		{group: "policy", resource: "poddisruptionbudgets"},
		{group: "rbac.authorization.k8s.io", resource: "clusterroles", cluster: true},
		{group: "rbac.authorization.k8s.io", resource: "clusterrolebindings", cluster: true},
		{
			group:    "storage.k8s.io",
			resource: "csidrivers",
			cluster:  true,
		},
		{group: "storage.k8s.io", resource: "storageclasses", cluster: true},
	}
}

// hook is what both kinds of webhooks have.
type hook struct {
	configuration string
	name          string
	rules         []admissionregistrationv1.RuleWithOperations
	policy        *admissionregistrationv1.FailurePolicyType
	namespaces    *metav1.LabelSelector
	objects       *metav1.LabelSelector
	client        admissionregistrationv1.WebhookClientConfig
}

// webhooks are those that our addons pass.
func (p *Preflight) webhooks(ctx context.Context) observation.Observed[[]preflight.Webhook] {
	hooks, err := p.hooks(ctx)
	if err != nil {
		return observation.Unknown[[]preflight.Webhook](err.Error())
	}
	namespace := &corev1.Namespace{}
	if err := p.client.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return observation.Unknown[[]preflight.Webhook](reads.Because("reading Namespace "+metav1.NamespaceSystem, err))
	}
	found := []preflight.Webhook{}
	for _, hook := range hooks {
		matches, err := hook.matches(namespace.Labels)
		switch {
		case err != nil:
			return observation.Unknown[[]preflight.Webhook](err.Error())
		case len(matches) == 0:
			continue
		}
		webhook := preflight.Webhook{
			Configuration: hook.configuration, Name: hook.name, Matches: matches, Ready: observation.Known(true),
			// Fail is the default:
			// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy
			Fails: ptr.Deref(hook.policy, admissionregistrationv1.Fail) == admissionregistrationv1.Fail,
		}
		if service := hook.client.Service; service != nil {
			webhook.Service = service.Namespace + "/" + service.Name
			webhook.Ready = p.answers(ctx, service.Namespace, service.Name)
		}
		found = append(found, webhook)
	}
	return observation.Known(found)
}

func (p *Preflight) hooks(ctx context.Context) ([]hook, error) {
	var hooks []hook
	note := func(h hook) { hooks = append(hooks, reads.Keep(ctx, h)) }
	validating := func(list *admissionregistrationv1.ValidatingWebhookConfigurationList) (
		items []admissionregistrationv1.ValidatingWebhookConfiguration,
	) {
		return list.Items
	}
	err := reads.Each(ctx, p.client, "ValidatingWebhookConfigurations", validating,
		func(item *admissionregistrationv1.ValidatingWebhookConfiguration) {
			for _, w := range item.Webhooks {
				note(hook{"ValidatingWebhookConfiguration " + item.Name,
					w.Name, w.Rules, w.FailurePolicy, w.NamespaceSelector, w.ObjectSelector, w.ClientConfig})
			}
		})
	if err != nil {
		return nil, err
	}
	mutating := func(list *admissionregistrationv1.MutatingWebhookConfigurationList) (
		items []admissionregistrationv1.MutatingWebhookConfiguration,
	) {
		return list.Items
	}
	err = reads.Each(ctx, p.client, "MutatingWebhookConfigurations", mutating,
		func(item *admissionregistrationv1.MutatingWebhookConfiguration) {
			for _, w := range item.Webhooks {
				note(hook{"MutatingWebhookConfiguration " + item.Name,
					w.Name, w.Rules, w.FailurePolicy, w.NamespaceSelector, w.ObjectSelector, w.ClientConfig})
			}
		})
	return hooks, err
}

// matches are the resources of our addons that a webhook is asked about. What CEL says is left out: it then matches more.
func (h hook) matches(namespace map[string]string) ([]string, error) {
	ours, err := selects(h.objects, map[string]string{manifest.ManagedByLabel: manifest.ManagedBy})
	if err != nil || !ours {
		return nil, err
	}
	system, err := selects(h.namespaces, namespace)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, resource := range addonResources() {
		if (resource.cluster || system) && slices.ContainsFunc(h.rules, resource.under) {
			found = append(found, resource.resource)
		}
	}
	return found, nil
}

// under says that a rule is about the resource, being made or changed.
func (r addonResource) under(rule admissionregistrationv1.RuleWithOperations) bool {
	has := func(list []string, values ...string) bool {
		return slices.ContainsFunc(list, func(value string) bool { return slices.Contains(values, value) })
	}
	scope := ptr.Deref(rule.Scope, admissionregistrationv1.AllScopes)
	scoped := scope == admissionregistrationv1.AllScopes || (scope == admissionregistrationv1.ClusterScope) == r.cluster
	changes := slices.ContainsFunc(rule.Operations, func(operation admissionregistrationv1.OperationType) bool {
		return operation == admissionregistrationv1.OperationAll || operation == admissionregistrationv1.Create ||
			operation == admissionregistrationv1.Update
	})
	return scoped && changes && has(rule.APIGroups, "*", r.group) && has(rule.Resources, "*", "*/*", r.resource)
}

func selects(selector *metav1.LabelSelector, set map[string]string) (bool, error) {
	if selector == nil {
		return true, nil // A webhook without a selector is asked about everything.
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return false, fmt.Errorf("a webhook has a selector that cannot be read: %w", err)
	}
	return parsed.Matches(labels.Set(set)), nil
}

// answers says whether an endpoint of a Service is ready; one that says nothing of it is.
// https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions
func (p *Preflight) answers(ctx context.Context, namespace, name string) observation.Observed[bool] {
	ready := false
	err := reads.List(
		ctx,
		p.client,
		func() *discoveryv1.EndpointSliceList { return &discoveryv1.EndpointSliceList{} },
		func(page *discoveryv1.EndpointSliceList) {
			for _, slice := range page.Items {
				ready = ready ||
					slices.ContainsFunc(
						slice.Endpoints,
						func(endpoint discoveryv1.Endpoint) bool { return ptr.Deref(endpoint.Conditions.Ready, true) },
					)
			}
		},
		client.InNamespace(namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: name},
	)
	if err != nil {
		return observation.Unknown[bool](reads.Because("listing EndpointSlices of Service "+namespace+"/"+name, err))
	}
	return observation.Known(ready)
}
