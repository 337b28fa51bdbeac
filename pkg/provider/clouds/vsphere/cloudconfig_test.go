package vsphere_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	csitranslation "k8s.io/csi-translation-lib"
	"k8s.io/klog/v2"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/vsphere"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	password = "example-only-hunter2"
	user     = "user = alpha@vsphere.local\npassword = " + password + "\n"
	inTree   = "[Global]\n" + user + "[VirtualCenter \"vc.example.com\"]\ndatacenters = one\n"
	external = "vcenter:\n  a:\n    server: vc.example.com\n    user: alpha@vsphere.local\n    password: " + password + "\n"
	without  = "[Global]\nsecret-name = vc\nsecret-namespace = kube-system\n[VirtualCenter \"VC.example.com\"]\n"
)

func secret(conf string, more ...string) map[string][]byte {
	data := map[string][]byte{"vsphere.conf": []byte(conf)}
	for i := 0; i < len(more); i += 2 {
		data[more[i]] = []byte(more[i+1])
	}
	return data
}

// certificate is a CA bundle.
func certificate(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	g.Expect(err).NotTo(HaveOccurred())
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}))
}

func render(t *testing.T, data map[string][]byte) (manifest.Addons, error) {
	t.Helper()
	return vsphere.Profile{}.Render(manifest.RenderInput{
		Version: "1.28.15", Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"}, CloudConfig: data, ClusterUID: "uid",
	})
}

func secretsOf(g Gomega, set manifest.Set) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, object := range set.Objects {
		if object.GetKind() == "Secret" {
			got := &corev1.Secret{}
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, got)).To(Succeed())
			found[got.Name] = map[string]string{}
			for key, value := range got.Data {
				found[got.Name][key] = string(value)
			}
		}
	}
	return found
}

type transformation struct {
	data     map[string][]byte
	ccm, csi string
	user     string
}

const global = "global:\n  secretsDirectory: /etc/cloud-credentials\n"

func transformations() map[string]transformation {
	const center = "vcenter:\n  vc.example.com:\n"
	csi := func(user, lines string) string {
		return "[Global]\ncluster-id = \"uid\"\n\n[VirtualCenter \"vc.example.com\"]\nuser = \"" + user +
			"\"\npassword = \"" + password +
			"\"\n" + lines
	}
	return map[string]transformation{
		"a vCenter with a section": {
			data: secret(inTree), ccm: global + center + "    datacenters:\n    - one\n    server: vc.example.com\n",
			csi: csi("alpha@vsphere.local", "insecure-flag = \"false\"\ndatacenters = \"one\"\n"),
		},
		"the older form without sections": {
			data: secret("[Global]\n" + user + "server=vc.example.com\nport=8443\ninsecure-flag\ndatacenter=one\nworking-dir=x\n"),
			ccm: global + center + "    datacenters:\n    - one\n    insecureFlag: true\n    port: 8443\n" +
				"    server: vc.example.com\n",
			csi: csi("alpha@vsphere.local", "port = \"8443\"\ninsecure-flag = \"true\"\ndatacenters = \"one\"\n"),
		},
		"the server of the older form beside sections does not count": {
			data: secret("[Global]\nserver=old.example.com\nthumbprint=AA:BB\nsoap-roundtrip-count=5\n" +
				"[VirtualCenter \"vc.example.com\"]\nsoap-roundtrip-count=3\nuser=\"EXAMPLE\\\\alpha\"\npassword=\"" + password +
				"\" ; of the robot\n"),
			ccm: global + center + "    server: vc.example.com\n    soapRoundtripCount: 3\n    thumbprint: AA:BB\n", user: `EXAMPLE\alpha`,
			csi: "[Global]\ncluster-id = \"uid\"\nthumbprint = \"AA:BB\"\n\n[VirtualCenter \"vc.example.com\"]\n" +
				"user = \"EXAMPLE\\\\alpha\"\npassword = \"" + password + "\"\ninsecure-flag = \"false\"\n",
		},
		"the YAML of the external provider": {
			data: secret("# of the CCM\nglobal:\n  datacenters: [one, two]\n  port: 443\n  insecureFlag: true\n" + external),
			ccm: global + center + "    datacenters:\n    - one\n    - two\n    insecureFlag: true\n    port: 443\n" +
				"    server: vc.example.com\n",
			csi: csi("alpha@vsphere.local", "port = \"443\"\ninsecure-flag = \"true\"\ndatacenters = \"one,two\"\n"),
		},
		"YAML with the server for all": {
			data: secret("global:\n  server: vc.example.com\n  user: alpha@vsphere.local\n  password: " + password + "\n"),
			ccm:  global + center + "    server: vc.example.com\n",
			csi:  csi("alpha@vsphere.local", "insecure-flag = \"false\"\n"),
		},
		"credentials of the external provider's Secret": {
			data: secret("global:\n  secretName: a\n  secretNamespace: kube-system\nvcenter:\n  a:\n    server: vc.example.com\n",
				"vc.example.com.username", "beta@vsphere.local\n", "vc.example.com.password", password+"\n"),
			ccm:  global + center + "    server: vc.example.com\n",
			user: "beta@vsphere.local",
			csi:  csi("beta@vsphere.local", "insecure-flag = \"false\"\n"),
		},
		"what is for the CSI driver only": {
			data: secret(inTree, "cluster-id", "former\n", "migration-datastore-url", "ds:///vmfs/volumes/1/\n"),
			ccm:  global + center + "    datacenters:\n    - one\n    server: vc.example.com\n",
			csi: "[Global]\ncluster-id = \"former\"\n\n[VirtualCenter \"vc.example.com\"]\nuser = \"alpha@vsphere.local\"\npassword = \"" +
				password + "\"\ninsecure-flag = \"false\"\ndatacenters = \"one\"\nmigration-datastore-url = \"ds:///vmfs/volumes/1/\"\n",
		},
		"zones, by the labels that CSI migration translates those of in-tree volumes to": {
			data: secret(inTree + "[Labels]\nzone=k8s-zone\nregion=k8s-region\n"),
			ccm: global + "labels:\n  region: k8s-region\n  zone: k8s-zone\n" + center +
				"    datacenters:\n    - one\n    server: vc.example.com\n",
			// With topology-categories the keys would be topology.csi.vmware.com/k8s-zone and k8s-region, whatever the sections say.
			csi: csi("alpha@vsphere.local", "insecure-flag = \"false\"\ndatacenters = \"one\"\n") +
				"\n[Labels]\nzone = \"k8s-zone\"\nregion = \"k8s-region\"\n" +
				"\n[TopologyCategory \"k8s-zone\"]\nlabel = \"topology.csi.vmware.com/zone\"\n" +
				"\n[TopologyCategory \"k8s-region\"]\nlabel = \"topology.csi.vmware.com/region\"\n",
		},
	}
}

func TestTransformation(t *testing.T) {
	for name, test := range transformations() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			addons, err := render(t, test.data)
			g.Expect(err).NotTo(HaveOccurred())
			if test.user == "" {
				test.user = "alpha@vsphere.local"
			}
			g.Expect(secretsOf(g, addons.CCM)).To(Equal(map[string]map[string]string{
				"vsphere-cloud-config": {"vsphere.conf": test.ccm},
				"vsphere-cloud-credentials": {
					"vc.example.com.username": test.user, "vc.example.com.password": password,
				},
			}))
			g.Expect(secretsOf(g, addons.CSI)).To(
				Equal(map[string]map[string]string{"vsphere-csi-config": {"csi-vsphere.conf": test.csi}}),
			)
		})
	}
}

func TestCredentialsOfTheInTreeSecretAreFoundWithoutRegardToCase(t *testing.T) {
	g := NewWithT(t)
	addons, err := render(t, secret(without, "vc.example.com.USERNAME", "alpha@vsphere.local", "vc.example.com.password", password))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(secretsOf(g, addons.CCM)["vsphere-cloud-credentials"]).To(Equal(map[string]string{
		"VC.example.com.username": "alpha@vsphere.local", "VC.example.com.password": password,
	}), "the external provider compares them with the server's name as it is written")
}

func TestTheCABundleGoesAlong(t *testing.T) {
	g := NewWithT(t)
	bundle := certificate(t)
	addons, err := render(
		t, secret("[Global]\nca-file=/etc/kubernetes/pki/vc.pem\n"+inTree[9:], "vc.pem", bundle, "kubeconfig", "of someone"),
	)
	g.Expect(err).NotTo(HaveOccurred())
	ccm, csi := secretsOf(g, addons.CCM), secretsOf(g, addons.CSI)
	g.Expect(ccm["vsphere-cloud-config"]).To(And(HaveLen(2), HaveKeyWithValue("vc.pem", bundle),
		HaveKeyWithValue("vsphere.conf", ContainSubstring("caFile: /etc/cloud/vc.pem\n"))))
	g.Expect(ccm["vsphere-cloud-credentials"]).To(HaveLen(2), "another file there would be an error")
	g.Expect(csi["vsphere-csi-config"]).To(And(HaveLen(2), HaveKeyWithValue("vc.pem", bundle),
		HaveKeyWithValue("csi-vsphere.conf", HavePrefix("[Global]\ncluster-id = \"uid\"\nca-file = \"/etc/cloud/vc.pem\"\n"))))
}

func TestAnAddressWithColonsIsNoPartOfAKey(t *testing.T) {
	g := NewWithT(t)
	addons, err := render(t, secret("[Global]\n"+user+"[VirtualCenter \"fd00::1\"]\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(secretsOf(g, addons.CCM)["vsphere-cloud-credentials"]).To(Equal(map[string]string{
		"server_0": "fd00::1", "username_0": "alpha@vsphere.local", "password_0": password,
	}))
}

func TestZonesOfInTreeVolumesAreThoseOfTheDriver(t *testing.T) {
	g := NewWithT(t)
	addons, err := render(t, secret(inTree+"[Labels]\nzone=k8s-zone\nregion=k8s-region\n"))
	g.Expect(err).NotTo(HaveOccurred())
	config := secretsOf(g, addons.CSI)["vsphere-csi-config"]["csi-vsphere.conf"]
	volume, err := csitranslation.New().TranslateInTreePVToCSI(klog.Background(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelTopologyRegion: "b"}},
		Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[store] disk.vmdk"},
		}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	terms := volume.Spec.NodeAffinity.Required.NodeSelectorTerms
	g.Expect(terms).To(ConsistOf(HaveField("MatchExpressions", HaveLen(2))))
	for _, asked := range terms[0].MatchExpressions {
		g.Expect(config).To(ContainSubstring("label = %q\n", asked.Key))
	}
}

func TestSeveralVCentersAndFamilies(t *testing.T) {
	g := NewWithT(t)
	addons, err := render(t, secret("labels: {zone: z, region: r}\nglobal: {ipFamily: [ipv4, ipv6], thumbprint: AA}\n"+external+
		"  b:\n    server: b.example.com\n    user: b@vsphere.local\n    password: "+password+"\n    thumbprint: BB\n"))
	g.Expect(err).NotTo(HaveOccurred())
	conf := secretsOf(g, addons.CSI)["vsphere-csi-config"]["csi-vsphere.conf"]
	g.Expect(conf).To(And(
		HavePrefix("[Global]\ncluster-id = \"uid\"\n\n[VirtualCenter \"b.example.com\"]\n"), ContainSubstring("thumbprint = \"BB\"\n"),
		HaveSuffix("thumbprint = \"AA\"\n\n[Labels]\ntopology-categories = \"z,r\"\n")), "the driver refuses zone and region here")
	g.Expect(addons.CCM.Objects).To(ContainElement(HaveField("Object", HaveKeyWithValue("spec", HaveKeyWithValue("template",
		HaveKeyWithValue("spec", HaveKeyWithValue("containers", ConsistOf(HaveKeyWithValue("env",
			ConsistOf(HaveKeyWithValue("name", "ENABLE_ALPHA_DUAL_STACK")))))))))))
}

func TestRenderNeedsNames(t *testing.T) {
	g := NewWithT(t)
	_, err := vsphere.Profile{}.Render(manifest.RenderInput{Version: "1.28.15", CloudConfig: secret(inTree)})
	g.Expect(err).To(MatchError(ContainSubstring("has no cluster name")))
	_, err = vsphere.Profile{}.Render(manifest.RenderInput{
		Version: "1.28.15", CloudConfig: secret(inTree), Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
	})
	g.Expect(err).To(MatchError(ContainSubstring("give key cluster-id")))
}

func TestDescription(t *testing.T) {
	g := NewWithT(t)
	description := vsphere.Profile{}.Describe()
	g.Expect("vsphere://4203b4c6-1f2e-4b7e-9d0c-1c0d2f3a4b5c").To(MatchRegexp(description.ProviderID))
	g.Expect("vsphere://vm-1").NotTo(MatchRegexp(description.ProviderID))
	g.Expect(description.InTree.LastMinor).To(Equal(vsphere.Profile{}.Facts("1.30.0").LastInTreeMinor))
	for _, hazard := range description.Hazards {
		g.Expect(hazard.Link).To(HavePrefix("https://"), hazard.Text)
	}
	for _, rule := range description.Rules {
		g.Expect(rule.Link).To(HavePrefix("https://"), rule.Reason)
		g.Expect(rule.Operations).NotTo(BeEmpty())
	}
}
