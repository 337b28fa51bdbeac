package cluster

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func reconcilerOf(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(ucv1.AddToScheme(scheme)).To(Succeed())
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).WithObjects(objects...).Build()
	return &Reconciler{Client: c, Observer: observerOf(t, c, c)}
}

func profileOf(name, provider string, mirrors ...ucv1.ImageMirror) *ucv1.ProviderProfile {
	return &ucv1.ProviderProfile{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: ucv1.ProviderProfileSpec{ProviderName: provider, Mirrors: mirrors},
	}
}

func TestProfilesThatAreObserved(t *testing.T) {
	forbidden := interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("forbidden")
		},
	}
	for name, tc := range map[string]struct {
		profiles []client.Object
		funcs    interceptor.Funcs
		used     bool
		known    bool
		problem  string
	}{
		"no profile leaves what is built in":                  {known: true},
		"a profile with the provider's name is used":          {profiles: []client.Object{profileOf("simcloud", "simcloud")}, used: true, known: true},
		"a profile with another name is not":                  {profiles: []client.Object{profileOf("next", "simcloud")}, known: true},
		"a profile with the name of another provider is none": {profiles: []client.Object{profileOf("simcloud", "openstack")}, known: true},
		"a profile with a problem is not used, and said": {
			profiles: []client.Object{profileOf("simcloud", "simcloud", ucv1.ImageMirror{Source: "a"})}, known: true,
			problem: "ProviderProfile simcloud cannot be used, and nothing of it is applied: spec.mirrors[0].mirror",
		},
		"a profile that cannot be read may be there": {funcs: forbidden, problem: "ProviderProfile simcloud could not be read: " +
			"forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &scope{Pass: status.Pass{Cluster: passes.ClusterOf(ucv1.OriginMigrating)}}
			observed := reconcilerOf(
				t,
				tc.funcs,
				tc.profiles...).Observer.management.observeProfile(
				t.Context(),
				s,
				observation.Provider{Name: "simcloud"},
			)
			g.Expect(observed.IsKnown()).To(Equal(tc.known))
			g.Expect(s.profile != nil).To(Equal(tc.used))
			if tc.problem == "" {
				g.Expect(s.profileProblem).To(BeEmpty())
			}
			g.Expect(s.profileProblem).To(HavePrefix(tc.problem))
			if tc.known {
				g.Expect(observed.Value().ProfileProblem).To(Equal(s.profileProblem))
			} else {
				g.Expect(observed.Why()).To(Equal(tc.problem))
			}
		})
	}
}

func TestAProfileWakesTheClustersOfItsProvider(t *testing.T) {
	named := func(namespace, provider string) func(*ucv1.Cluster) {
		return func(c *ucv1.Cluster) { c.Namespace, c.Spec.Cloud.ProviderName = namespace, provider }
	}
	r := reconcilerOf(t, interceptor.Funcs{},
		passes.ClusterOf(ucv1.OriginMigrating, named("a", "simcloud")), passes.ClusterOf(ucv1.OriginExternal, named("b", "simcloud")),
		passes.ClusterOf(ucv1.OriginMigrating, named("c", "openstack")), passes.ClusterOf(ucv1.OriginInTree, named("d", "simcloud")))
	var woken []string
	for _, request := range r.wakes().clustersOfProvider(t.Context(), profileOf("simcloud", "simcloud")) {
		woken = append(woken, request.String())
	}
	NewWithT(t).Expect(woken).To(ConsistOf("a/alpha", "b/alpha"), "those with the feature on, in all namespaces")
}
