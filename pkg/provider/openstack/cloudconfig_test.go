package openstack_test

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/openstack"
)

const (
	password = "example-only-hunter2"
	user     = "[Global]\nauth-url=https://keystone.example.com/v3\nusername=u\npassword=" + password + "\ntenant-id=t\n"
)

func secret(conf string) map[string][]byte {
	return map[string][]byte{"cloud.conf": []byte(conf)}
}

func TestCloudConfigsThatCanBeUsed(t *testing.T) {
	tests := map[string]map[string][]byte{
		"a user with a password": secret(user),
		"an application credential": secret("[Global]\nauth-url=https://k\n" +
			"application-credential-id=a\napplication-credential-secret=s\n"),
		"an application credential by name": secret("[Global]\nauth-url=https://k\nusername=u\ndomain-name=d\n" +
			"application-credential-name=a\napplication-credential-secret=s\n"),
		"a trust":                          secret("[Global]\nauth-url=https://k\nuser-id=u\npassword=p\ntrust-id=t\n"),
		"names without regard to case":     secret("[GLOBAL]\nAuth-URL = https://k\nUserName=u\nPASSWORD=p\ntenant-name=t\n"),
		"comments, quotes and other parts": secret("; a\n# b\n[LoadBalancerClass \"x\"]\npassword=\n" + user + "[Route]\nrouter-id=r\n"),
		"a password in quotes with a hash": secret("[Global]\nauth-url=https://k\nuser-id=u\npassword=\"#\\\"\"\ntenant-id=t\n"),
		"clouds that are switched off":     secret(user + "use-clouds=false\n"),
		"the CA certificates of the image": secret(user + "ca-file=/etc/ssl/certs/ca-certificates.crt\n"),
		"a CA file that is in the Secret": {
			"cloud.conf": []byte(user + "ca-file=/etc/config/ca.pem\n"), "ca.pem": []byte("certificate"),
		},
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(openstack.Profile{}.CloudConfigProblem(data)).To(BeEmpty())
		})
	}
}

func TestCloudConfigProblems(t *testing.T) {
	const global = "key cloud.conf, section Global, "
	tests := map[string]struct {
		data map[string][]byte
		want string
	}{
		"no Secret data":  {nil, "it lacks key cloud.conf: add the configuration of the OpenStack cloud-controller-manager"},
		"an empty file":   {secret(""), "it lacks key cloud.conf: add the configuration of the OpenStack cloud-controller-manager"},
		"another section": {secret("[LoadBalancer]\nauth-url=a\n"), global + "lacks auth-url; and user-id or username or application-credential-id; and password or application-credential-secret; and tenant-id or tenant-name or application-credential-id: add it"},
		"no password":     {secret("[Global]\nauth-url=a\nusername=u\npassword=\ntenant-id=t\n"), global + "lacks password or application-credential-secret: add it"},
		"no project":      {secret("[Global]\nauth-url=a\nusername=u\npassword=" + password), global + "lacks tenant-id or tenant-name or application-credential-id: add it"},
		"a password that is all comment": {
			secret("[Global]\nauth-url=a\nusername=u\ntenant-id=t\npassword=#" + password),
			global + "lacks password or application-credential-secret: add it",
		},
		"the in-tree provider's Secret": {
			secret("[Global]\nauth-url=a\ntenant-id=t\nsecret-name=x\nsecret-namespace=y\n"),
			global + "lacks user-id or username or application-credential-id; and password or application-credential-secret: add it",
		},
		"an application credential without its secret": {
			secret("[Global]\nauth-url=a\napplication-credential-id=i\n"), global + "lacks application-credential-secret: add it",
		},
		"an application credential without its name": {
			secret("[Global]\nauth-url=a\napplication-credential-secret=" + password),
			global + "lacks application-credential-id or application-credential-name: add it",
		},
		"an application credential by name without its user": {
			secret("[Global]\nauth-url=a\napplication-credential-name=n\napplication-credential-secret=" + password),
			global + "lacks user-id or username: add it",
		},
		"a trust without its user": {
			secret("[Global]\nauth-url=a\ntrust-id=t\npassword=" + password), global + "lacks user-id or username or trustee-id: add it",
		},
		"a clouds file": {
			secret(user + "use-clouds=true\n"),
			global + "has use-clouds: that file is not there in the user cluster, so write the credentials into cloud.conf",
		},
		"a CA file of KCM's host": {
			secret(user + "ca-file=/etc/kubernetes/pki/ca.pem\n"),
			global + "has a ca-file that is not in this Secret: add the file to the Secret under a key and write /etc/config/<key>",
		},
		"a key file that is not in the Secret": {
			secret(user + "key-file=/etc/config/client.key\n"),
			global + "has a key-file that is not in this Secret: add the file to the Secret under a key and write /etc/config/<key>",
		},
		"a section that does not end": {
			secret("[Global\npassword=" + password), "key cloud.conf, line 1, is a section without its closing bracket",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			problem := openstack.Profile{}.CloudConfigProblem(test.data)
			g.Expect(problem).To(Equal(test.want))
			g.Expect(problem).NotTo(ContainSubstring(password))
			_, err := openstack.Profile{}.Render(manifest.RenderInput{Version: "1.25.0", CloudConfig: test.data})
			g.Expect(err).To(MatchError("render openstack: its cloud configuration cannot be used: " + test.want))
		})
	}
}

func TestOnlyFilesThatCloudConfNamesGoToTheUserCluster(t *testing.T) {
	g := NewWithT(t)
	addons, err := openstack.Profile{}.Render(manifest.RenderInput{
		Version:   "1.25.16",
		Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
		CloudConfig: map[string][]byte{
			"cloud.conf": []byte(user + "ca-file=\"/etc/config/ca.pem\"\n"), "ca.pem": []byte("certificate"),
			"kubeconfig": []byte("of the management cluster"),
		},
	})
	g.Expect(err).NotTo(HaveOccurred())
	for _, set := range []manifest.Set{addons.CCM, addons.CSI} {
		got := &corev1.Secret{}
		g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(set.Objects[0].Object, got)).To(Succeed())
		g.Expect(got.Data).To(And(HaveLen(2), HaveKey("cloud.conf"), HaveKeyWithValue("ca.pem", []byte("certificate"))))
	}
}

func TestRenderNeedsAClusterName(t *testing.T) {
	_, err := openstack.Profile{}.Render(manifest.RenderInput{Version: "1.25.16", CloudConfig: secret(user)})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("has no cluster name")))
}
