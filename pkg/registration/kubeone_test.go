package registration

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// manifest of a KubeOneCluster. The fields are those of https://github.com/kubermatic/kubeone, commit a3c4f6b0e0f1,
// pkg/apis/kubeone/v1beta2/types.go and v1beta3/types.go, which do not differ here.
func manifest(more string) string {
	return "apiVersion: kubeone.k8c.io/v1beta3\nkind: KubeOneCluster\nname: web\nversions: {kubernetes: 1.25.16}\n" + more
}

// kubeOneTest is a manifest with more lines.
type kubeOneTest struct {
	more string
	look Look
	// want has what some fields begin with; empty: they are not there.
	want    map[string]string
	refused string
}

const openStack = "cloudProvider: {openstack: {}}\n"

func TestAKubeOneClusterIsProposed(t *testing.T) {
	runKubeOneTests(t, map[string]kubeOneTest{
		"with an in-tree provider": {more: openStack, look: nothing(), want: map[string]string{
			"metadata.name": "web;", "metadata.namespace": "user-alpha;", "spec.version": "1.25.16;",
			"spec.cloud.providerName": "openstack; cloudProvider.openstack of the manifest.",
			"spec.cloud.configSecretRef.name": "missing: a manifest names no Secret. a Secret with key cloud.conf, for example " +
				"web-cloud-config.",
			"spec.kubeconfigSecretRef.name": "missing: there is no Secret web-kubeconfig, key value.",
			"spec.controlPlane.type":        "External;", "spec.machineController.location": "UserCluster;",
			"spec.machineController.operatingSystemManager.mode": "",
			"spec.rollout.acceptNodes":                           "missing: the Nodes of the control plane have no Machines",
		}},
		"with a name of its own for the provider": {more: "cloudProvider: {gce: {}}\n", look: nothing(), want: map[string]string{
			"spec.cloud.providerName":         "gcp; cloudProvider.gce of the manifest. KCM runs --cloud-provider=gce.",
			"spec.cloud.configSecretRef.name": "missing: a manifest names no Secret. a Secret with keys cloud-sa.json, gce.conf",
		}},
		"with hosts": {
			more: openStack + "controlPlane: {hosts: [{privateAddress: 10.0.0.1}]}\nstaticWorkers: {hosts: [{privateAddress: " +
				"10.0.0.2}, {}]}\n", look: nothing(),
			want: map[string]string{
				"spec.rollout.acceptNodes": "missing: the manifest has 1 host of the control plane and 2 static workers;",
			},
		},
		"with Secrets that exist": {
			more: openStack, look: nothing().with("web-cloud-config", observation.Known(Secret{})).with(
				"web-kubeconfig", observation.Known(Secret{Keys: []string{"value"}}),
			),
			want: map[string]string{
				"spec.cloud.configSecretRef.name": "web-cloud-config;", "spec.kubeconfigSecretRef.name": "web-kubeconfig;",
			},
		},
		"with Secrets that could not be looked at": {
			more: openStack + "  # no more\n", look: nothing().with("web-cloud-config", observation.Unknown[Secret]("forbidden")),
			want: map[string]string{
				"spec.cloud.configSecretRef.name": "missing: a manifest names no Secret. Secret web-cloud-config could not be looked " +
					"at: forbidden.",
			},
		},
		"without operating-system-manager": {
			more: openStack + "operatingSystemManager: {deploy: false}\n", look: nothing(),
			want: map[string]string{
				"spec.machineController.location": "UserCluster;", "spec.machineController.operatingSystemManager.mode": "None;",
			},
		},
		"without machine-controller": {
			more: openStack + "machineController: {}\n", look: nothing(),
			want: map[string]string{"spec.machineController.location": "missing: machineController.deploy of the manifest is false."},
		},
		"with two providers": {
			more: "cloudProvider: {openstack: {}, gce: {}}\n", look: nothing(),
			want: map[string]string{"spec.cloud.providerName": "missing: cloudProvider of the manifest names no provider, or several."},
		},
	})
}

func TestAKubeOneClusterIsNotProposed(t *testing.T) {
	runKubeOneTests(t, map[string]kubeOneTest{
		"when it is external": {
			more: "cloudProvider: {openstack: {}, external: true}\n", look: nothing(), refused: "cloudProvider.external is true",
		},
		"when it never was in-tree": {
			more: "cloudProvider: {hetzner: {networkID: a}}\n", look: nothing(), refused: "provider hetzner was never in-tree",
		},
		"without a provider": {more: "cloudProvider: {none: {}}\n", look: nothing(), refused: "cloudProvider is none"},
		"when a Cluster has the name": {
			more: openStack, refused: "Cluster user-alpha/web exists already",
			look: Look{Clusters: observation.Known([]ucv1.Cluster{{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}})},
		},
	})
}

func runKubeOneTests(t *testing.T, tests map[string]kubeOneTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster, err := ReadKubeOne([]byte(manifest(test.more)))
			g.Expect(err).NotTo(HaveOccurred())
			made := cluster.Propose(namespace, test.look, known())
			g.Expect(made.Refused).To(HavePrefix(test.refused))
			g.Expect(made.Refused).To(sameEmptiness(test.refused))
			for path, want := range test.want {
				g.Expect(field(made, path)).To(HavePrefix(want), path)
				g.Expect(field(made, path)).To(sameEmptiness(want), path)
			}
		})
	}
}

func TestWhatIsNoKubeOneCluster(t *testing.T) {
	const secret = "example-only-hunter2"
	for name, test := range map[string]struct{ text, says string }{
		"no YAML":             {text: "a: [" + secret, says: "it is no YAML of one KubeOneCluster"},
		"YAML of other types": {text: manifest("cloudProvider: " + secret), says: "it is no YAML of one KubeOneCluster"},
		"another kind":        {text: "apiVersion: kubeone.k8c.io/v1beta3\nkind: " + secret, says: "kubeone config migrate"},
		"a version that was before": {
			text: "apiVersion: kubeone.io/v1beta1\nkind: KubeOneCluster\nname: web\n", says: "kubeone config migrate",
		},
		"no name": {text: "apiVersion: kubeone.k8c.io/v1beta2\nkind: KubeOneCluster\n", says: "it has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadKubeOne([]byte(test.text))
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(test.says), Not(ContainSubstring(secret)))))
		})
	}
}

func TestTheCloudConfigurationOfAKubeOneClusterIsNotKept(t *testing.T) {
	g := NewWithT(t)
	for value, given := range map[string]bool{`"password=a"`: true, `""`: false, "null": false} {
		cluster, err := ReadKubeOne([]byte(manifest("cloudProvider: {openstack: {}, cloudConfig: " + value + "}\n")))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cluster.CloudProvider.CloudConfig).To(Equal(isGiven(given)), value)
		says := ContainSubstring("cloudProvider.cloudConfig of the manifest has the configuration.")
		if !given {
			says = Not(says)
		}
		g.Expect(field(cluster.Propose(namespace, nothing(), known()), "spec.cloud.configSecretRef.name")).To(says, value)
	}
}

func TestAVersionOfKubernetesWithoutAPatchReleaseIsNone(t *testing.T) {
	g := NewWithT(t)
	cluster := KubeOneCluster{Name: "web"}
	cluster.Versions.Kubernetes = "1.25"
	g.Expect(field(cluster.Propose(namespace, nothing(), known()), "spec.version")).To(HavePrefix("missing: versions.kubernetes"))
}
