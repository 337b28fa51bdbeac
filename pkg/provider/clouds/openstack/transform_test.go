package openstack_test

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/openstack"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// inTree has all that only the in-tree provider knows, and what CCM and CSI driver go on with.
const inTree = user + `secret-name = kept
secret-namespace = kube-system
kubeconfig-path = /etc/kubernetes/kcm.conf
ca-file = /etc/kubernetes/pki/tls.pem
[Global "other"]
auth-url = https://other
password = p ; of another cloud
[LoadBalancer]
lb-version = v2
use-octavia = true
subnet-id = s
[LoadBalancerClass "Public"]
floating-subnet-id = f
[BlockStorage]
bs-version = v2
trust-device-path = false
ignore-volume-az = yes
[Route]
router-id = r
[Metadata]
search-order = configDrive
[Networking]
public-network-name = a
public-network-name = b \"2\"
ipv6-support-disabled
[Mine]
own = "1 # 2"
`

const (
	globalOut = "[Global]\nauth-url = \"https://keystone.example.com/v3\"\nuser-id = \"u\"\npassword = \"" + password + "\"\n" +
		"tenant-id = \"t\"\nca-file = \"/etc/config/tls.pem\"\n"
	balancerOut = "[LoadBalancer]\nsubnet-id = \"s\"\n"
	octaviaOut  = "[LoadBalancer]\nuse-octavia = \"true\"\nsubnet-id = \"s\"\n"
	metadataOut = "[Metadata]\nsearch-order = \"configDrive\"\n"
	restOut     = "[LoadBalancerClass \"Public\"]\nfloating-subnet-id = \"f\"\n[Route]\nrouter-id = \"r\"\n" + metadataOut +
		"[Networking]\npublic-network-name = \"a\"\npublic-network-name = \"b \\\"2\\\"\"\nipv6-support-disabled = \"true\"\n" +
		"[mine]\nown = \"1 # 2\"\n"
	volumesOut = "[BlockStorage]\nignore-volume-az = \"yes\"\n" + metadataOut
	otherOut   = "[Global \"other\"]\nauth-url = \"https://other\"\npassword = \"p\"\n"
)

func TestEachComponentGetsTheKeysThatItKnows(t *testing.T) {
	tests := map[string]struct{ version, ccm, csi string }{
		"use-octavia still decides in 1.25":    {"1.25.16", globalOut + octaviaOut + restOut, globalOut + volumesOut},
		"1.30":                                 {"1.30.0", globalOut + balancerOut + restOut, globalOut + volumesOut},
		"clouds with a name, from 1.31 on too": {"1.31.0", globalOut + balancerOut + restOut, globalOut + otherOut + volumesOut},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			data := withPair(t, inTree)
			data["kubeconfig"] = []byte("of the management cluster")
			ccm, csi := configs(g, test.version, data)
			g.Expect(ccm).To(And(HaveLen(2), HaveKeyWithValue("tls.pem", data["tls.pem"])))
			g.Expect(csi).To(And(HaveLen(2), HaveKeyWithValue("tls.pem", data["tls.pem"])))
			g.Expect(string(ccm["cloud.conf"])).To(Equal(test.ccm))
			g.Expect(string(csi["cloud.conf"])).To(Equal(test.csi))
		})
	}
}

// configs are the Secrets that CCM and CSI driver read.
func configs(g Gomega, version string, data map[string][]byte) (ccm, csi map[string][]byte) {
	addons, err := openstack.Profile{}.Render(manifest.RenderInput{
		Version: version, Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"}, CloudConfig: data,
	})
	g.Expect(err).NotTo(HaveOccurred())
	content := func(set manifest.Set) map[string][]byte {
		got := &corev1.Secret{}
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(set.Objects[0].Object, got)).To(Succeed())
		return got.Data
	}
	return content(addons.CCM), content(addons.CSI)
}
