package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// What the API server refuses never stops a cluster.
func TestProviderProfilesThatTheAPIServerRefuses(t *testing.T) {
	t.Parallel()
	toleration := func(change func(*ucv1.Toleration)) func(*ucv1.ProviderProfileSpec) {
		return func(spec *ucv1.ProviderProfileSpec) { change(&spec.Workloads[0].Tolerations[0]) }
	}
	for name, tc := range map[string]struct {
		change func(*ucv1.ProviderProfileSpec)
		want   string
	}{
		"nothing but a provider is fine":   {func(spec *ucv1.ProviderProfileSpec) { *spec = ucv1.ProviderProfileSpec{ProviderName: "simcloud"} }, ""},
		"all that there is, is fine":       {func(*ucv1.ProviderProfileSpec) {}, ""},
		"no provider":                      {func(spec *ucv1.ProviderProfileSpec) { spec.ProviderName = "" }, "spec.providerName"},
		"a mirror that is a URL":           {func(spec *ucv1.ProviderProfileSpec) { spec.Mirrors[0].Mirror = "https://mirror.example.com" }, "spec.mirrors[0].mirror"},
		"a source that is there twice":     {func(spec *ucv1.ProviderProfileSpec) { spec.Mirrors = append(spec.Mirrors, spec.Mirrors[0]) }, "spec.mirrors[1]"},
		"a source with a tag":              {func(spec *ucv1.ProviderProfileSpec) { spec.Mirrors[0].Source += "/a:v1" }, "spec.mirrors[0].source"},
		"a digest that is cut":             {func(spec *ucv1.ProviderProfileSpec) { spec.Images[0].Digest = someDigest[:70] }, "spec.images[0].digest"},
		"a digest of another kind":         {func(spec *ucv1.ProviderProfileSpec) { spec.Images[0].Digest = "md5:0123" }, "spec.images[0].digest"},
		"a digest without its tag":         {func(spec *ucv1.ProviderProfileSpec) { spec.Images[0].Tag = "" }, "spec.images[0].tag"},
		"a version instead of a minor":     {func(spec *ucv1.ProviderProfileSpec) { spec.Images[0].Kubernetes = "1.30.14" }, "spec.images[0].kubernetes"},
		"a switch without its value":       {func(spec *ucv1.ProviderProfileSpec) { spec.Workloads[0].ExtraArguments[0] = "--profiling" }, "spec.workloads[0].extraArguments[0]"},
		"one dash":                         {func(spec *ucv1.ProviderProfileSpec) { spec.Workloads[0].ExtraArguments[0] = "-v=4" }, "spec.workloads[0].extraArguments[0]"},
		"a workload that is there twice":   {func(spec *ucv1.ProviderProfileSpec) { spec.Workloads = append(spec.Workloads, spec.Workloads[0]) }, "spec.workloads[1]"},
		"a priority class that is no name": {func(spec *ucv1.ProviderProfileSpec) { spec.Workloads[0].PriorityClassName = "High" }, "spec.workloads[0].priorityClassName"},
		"a toleration without a key":       {toleration(func(t *ucv1.Toleration) { t.Key, t.Operator = "", "" }), "say so with operator Exists"},
		"a toleration of all taints":       {toleration(func(t *ucv1.Toleration) { t.Key = "" }), ""},
		"a toleration with a value more": {toleration(func(t *ucv1.Toleration) { t.Value = "a" }), "a toleration with operator " +
			"Exists has no value"},
		"a toleration of no operator": {toleration(func(t *ucv1.Toleration) { t.Operator = "In" }), "tolerations[0].operator"},
		"a toleration of no effect":   {toleration(func(t *ucv1.Toleration) { t.Effect = "NoWay" }), "tolerations[0].effect"},
		"a toleration with seconds":   {toleration(func(t *ucv1.Toleration) { t.TolerationSeconds = new(int64(1)) }), "tolerationSeconds is for effect NoExecute"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile := &ucv1.ProviderProfile{ObjectMeta: metav1.ObjectMeta{Name: "refused"}}
			profile.Spec.ProviderName = "simcloud"
			airGapped(&profile.Spec)
			tc.change(&profile.Spec)
			err := suite.client.Create(t.Context(), profile, client.DryRunAll)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(Satisfy(apierrors.IsInvalid))
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestProviderOfAProfileIsImmutable(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	putProfile(t, "fixed", airGapped)
	profile := &ucv1.ProviderProfile{}
	g.Expect(suite.client.Get(t.Context(), client.ObjectKey{Name: "fixed"}, profile)).To(Succeed())
	profile.Spec.ProviderName = "openstack"
	g.Expect(suite.client.Update(t.Context(), profile)).To(MatchError(ContainSubstring("spec.providerName is immutable")))
}
