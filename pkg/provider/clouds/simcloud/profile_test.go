package simcloud_test

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func secret(endpoint, cluster, token string) map[string][]byte {
	return map[string][]byte{"endpoint": []byte(endpoint), "cluster": []byte(cluster), "token": []byte(token)}
}

func TestCloudConfigProblems(t *testing.T) {
	const token = "example-only-hunter2"
	tests := map[string]struct {
		data map[string][]byte
		want string
	}{
		"all keys":                  {secret("http://127.0.0.1:1", "alpha", token), ""},
		"a line end behind a value": {secret("http://127.0.0.1:1\n", "alpha\n", token+"\n"), ""},
		"no data":                   {nil, "it lacks endpoint, cluster, token: add them, simcloud needs endpoint, cluster, token"},
		"keys that are empty": {secret("http://a", " ", ""), "it lacks cluster, token: add them, simcloud needs endpoint, cluster, " +
			"token"},
		"a value that adds keys": {secret("http://a", "alpha\ntoken=x", token), "key cluster has more than one line: cloud.conf " +
			"takes one line for each key"},
		"an endpoint without a host": {secret(token, "alpha", token), "key endpoint is not a URL with a host: write it like " +
			"http://host:port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(simcloud.Profile{}.CloudConfigProblem(test.data)).To(Equal(test.want))
		})
	}
}

func TestRender(t *testing.T) {
	g := NewWithT(t)
	addons, err := simcloud.Profile{}.Render(manifest.RenderInput{
		Version: "1.30.14", CloudConfig: secret("http://127.0.0.1:1\n", "alpha", "t"),
		Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	got := &corev1.Secret{}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(addons.CCM.Objects[0].Object, got)).To(Succeed())
	g.Expect(string(got.Data["cloud.conf"])).To(Equal("endpoint=http://127.0.0.1:1\ncluster=alpha\ntoken=t\n"))
}

func TestRenderErrors(t *testing.T) {
	config := secret("http://127.0.0.1:1", "alpha", "t")
	tests := map[string]struct {
		in   manifest.RenderInput
		want string
	}{
		"a minor that the testbed is not": {
			manifest.RenderInput{Version: "1.31.0", CloudConfig: config}, "render simcloud: there is no simcloud cloud-controller-manager",
		},
		"a configuration that lacks a key": {
			manifest.RenderInput{Version: "1.30.0"}, "render simcloud: its cloud configuration cannot be used: it lacks endpoint",
		},
		"no cluster name": {manifest.RenderInput{Version: "1.30.0", CloudConfig: config}, "has no cluster name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := simcloud.Profile{}.Render(test.in)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
}
