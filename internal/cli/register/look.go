package register

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/registration"
)

// pageSize bounds what is read at once: of a page only what has a part in a proposal is kept.
const pageSize = 500

// look is one reading of the management cluster.
type look struct {
	client   client.Client
	host     string
	platform registration.Platform
	// namespace is empty for all of them.
	namespace string
	selector  labels.Selector
	catalogue *provider.Catalogue
	providers registration.Providers
}

// providersOf is what proposals ask the catalogue.
func providersOf(catalogue *provider.Catalogue) registration.Providers {
	providers := registration.Providers{
		InTree: map[string]string{}, Keys: map[string][]string{}, Unknown: catalogue.Unknown,
		Objections: func(cluster *ucv1.Cluster) string { return catalogue.Objections(nil, cluster) },
		Unmigratable: func(name, version string) string {
			facts, _ := catalogue.Facts(name, version)
			return facts.MigrationProblem
		},
	}
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		providers.Keys[name] = slices.Sorted(maps.Keys(profile.Example()))
		if tree := profile.Describe().InTree; tree != nil {
			providers.InTree[tree.Name] = name
		}
	}
	return providers
}

// proposals for all that was found, in the order of their namespaces.
func (l *look) proposals(ctx context.Context, files []string) ([]registration.Proposal, error) {
	if l.platform == registration.KubeOne {
		return l.kubeOnes(ctx, files)
	}
	found, err := l.namespaces(ctx)
	if err != nil {
		return nil, err
	}
	deployments, err := l.deployments(ctx, found.has)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name := range deployments {
		names[name] = true
	}
	for name := range found.told {
		names[name] = true
	}
	var proposals []registration.Proposal
	for _, name := range slices.Sorted(maps.Keys(names)) {
		proposals = append(proposals, l.inNamespace(ctx, found, name, deployments[name])...)
	}
	return proposals, nil
}

// inNamespace proposes a Cluster for each control plane of a namespace. Of the platform's objects, only those are read for which
// there is one.
func (l *look) inNamespace(
	ctx context.Context, found namespaces, name string, deployments []appsv1.Deployment,
) (proposals []registration.Proposal) {
	read := registration.Namespace{Name: name, Deployments: deployments}
	if len(registration.Find(l.platform, read)) == 0 {
		if told, known := found.told[name].Get(); known {
			proposals = append(proposals, registration.NoControlPlane(told, name))
		}
		return proposals
	}
	read.Told = l.told(ctx, found, name)
	for _, plane := range registration.Find(l.platform, read) {
		seen := l.lookFor(ctx, name, plane.ProviderName(l.providers), plane.Secrets())
		proposals = append(proposals, plane.Propose(seen, l.providers))
	}
	return proposals
}

// namespaces are those to look in.
type namespaces struct {
	has func(name string) bool
	// told by KKP's Clusters, by namespace; why they could not be listed.
	told map[string]observation.Observed[registration.Told]
	why  string
}

func (l *look) namespaces(ctx context.Context) (namespaces, error) {
	found := namespaces{has: l.platform.MayBe}
	if l.platform == registration.KKP {
		return l.toldByKKP(ctx)
	}
	if l.selector.Empty() {
		return found, nil
	}
	list := &corev1.NamespaceList{}
	if err := l.client.List(ctx, list, client.MatchingLabelsSelector{Selector: l.selector}); err != nil {
		return found, fmt.Errorf("list the Namespaces of the management cluster at %s: %w", l.host, err)
	}
	found.has = func(name string) bool {
		return l.platform.MayBe(name) && slices.ContainsFunc(list.Items, func(n corev1.Namespace) bool { return n.Name == name })
	}
	return found, nil
}

// toldByKKP lists KKP's Clusters. Where that cannot be, the names of namespaces have to do: control planes are found by what they
// run.
func (l *look) toldByKKP(ctx context.Context) (namespaces, error) {
	found := namespaces{told: map[string]observation.Observed[registration.Told]{}}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "kubermatic.k8c.io", Version: "v1", Kind: "ClusterList"})
	failed := l.client.List(ctx, list, client.MatchingLabelsSelector{Selector: l.selector})
	switch {
	case failed != nil && !l.selector.Empty():
		return found, fmt.Errorf("list KKP's Clusters in the management cluster at %s: %w", l.host, failed)
	case failed != nil:
		found.has, found.why = l.platform.MayBe, strings.TrimSuffix(failed.Error(), ".")
		if meta.IsNoMatchError(failed) {
			found.why = "the API server has no Clusters of KKP: it is no seed's"
		}
		return found, nil
	}
	for i := range list.Items {
		cluster := &list.Items[i]
		if namespace := registration.KKPNamespace(cluster); l.namespace == "" || namespace == l.namespace {
			found.told[namespace] = observation.Known(registration.ToldByKKP(cluster))
		}
	}
	found.has = func(name string) bool { return found.told[name].IsKnown() }
	return found, nil
}

// told is what the platform says of the user cluster in a namespace that has a control plane.
func (l *look) told(ctx context.Context, found namespaces, namespace string) observation.Observed[registration.Told] {
	switch told, is := found.told[namespace]; {
	case is:
		return told
	case l.platform == registration.KKP:
		return observation.Unknown[registration.Told](found.why)
	case l.platform != registration.Gardener:
		return observation.Absent[registration.Told]()
	}
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: "extensions.gardener.cloud", Version: "v1alpha1", Kind: "Cluster"})
	switch err := l.client.Get(ctx, client.ObjectKey{Name: namespace}, cluster); {
	case apierrors.IsNotFound(err):
		return observation.Absent[registration.Told]()
	case meta.IsNoMatchError(err):
		return observation.Unknown[registration.Told]("the API server has no Clusters of Gardener's extensions: it is no seed's")
	case err != nil:
		return observation.Unknown[registration.Told](err.Error())
	}
	return observation.Known(registration.ToldByGardener(cluster))
}

// deployments that have a part in a proposal, by namespace.
func (l *look) deployments(ctx context.Context, wanted func(namespace string) bool) (map[string][]appsv1.Deployment, error) {
	found := map[string][]appsv1.Deployment{}
	for next := ""; ; {
		page := &appsv1.DeploymentList{}
		err := l.client.List(ctx, page, client.InNamespace(l.namespace), client.Limit(pageSize), client.Continue(next))
		if err != nil {
			return nil, fmt.Errorf("list Deployments of the management cluster at %s: %w", l.host, err)
		}
		for i := range page.Items {
			if one := &page.Items[i]; wanted(one.Namespace) && registration.Relevant(one) {
				found[one.Namespace] = append(found[one.Namespace], *one)
			}
		}
		if next = page.Continue; next == "" {
			return found, nil
		}
	}
}

// lookFor reads what a proposal names. What cannot be read is unknown: it is no reason to propose nothing.
func (l *look) lookFor(ctx context.Context, namespace, providerName string, secrets []string) registration.Look {
	seen := registration.Look{Secrets: map[string]observation.Observed[registration.Secret]{}}
	for _, name := range secrets {
		seen.Secrets[name] = l.secret(ctx, client.ObjectKey{Namespace: namespace, Name: name}, providerName)
	}
	list := &ucv1.ClusterList{}
	switch err := l.client.List(ctx, list, client.InNamespace(namespace)); {
	case meta.IsNoMatchError(err):
		// The kind is not installed, so there is none.
		seen.Clusters = observation.Absent[[]ucv1.Cluster]()
	case err != nil:
		seen.Clusters = observation.Unknown[[]ucv1.Cluster](err.Error())
	default:
		seen.Clusters = observation.Known(list.Items)
	}
	return seen
}

// secret keeps the names of the keys, and what the catalogue says of it, which never has a value in it.
func (l *look) secret(ctx context.Context, key client.ObjectKey, providerName string) observation.Observed[registration.Secret] {
	read := &corev1.Secret{}
	switch err := l.client.Get(ctx, key, read); {
	case apierrors.IsNotFound(err):
		return observation.Absent[registration.Secret]()
	case err != nil:
		return observation.Unknown[registration.Secret](strings.TrimSuffix(err.Error(), "."))
	}
	seen := registration.Secret{Keys: slices.Sorted(maps.Keys(read.Data))}
	if profile, known := l.catalogue.Lookup(providerName); known {
		seen.Problem = provider.CloudConfigProblem(profile, read.Data, false)
	}
	return observation.Known(seen)
}
