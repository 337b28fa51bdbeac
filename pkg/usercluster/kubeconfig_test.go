package usercluster

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const secretToken = "t0p-s3cret"

func kubeconfigWith(cluster, user string) string {
	return `apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: there, user: me}
clusters:
- name: there
  cluster: {` + cluster + `}
users:
- name: me
  user: {` + user + `}
`
}

const (
	server = "server: https://192.0.2.1:6443"
	token  = "token: " + secretToken
)

type kubeconfigCase struct {
	kubeconfig string
	allow      Allow
	reason     string
	says       string
}

func checkKubeconfigs(t *testing.T, cases map[string]kubeconfigCase) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config, err := ParseKubeconfig([]byte(tc.kubeconfig), tc.allow)
			if tc.reason == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(config.Host).To(Equal("https://192.0.2.1:6443"))
				return
			}
			g.Expect(err).To(BeAssignableToTypeOf(&KubeconfigError{}))
			g.Expect(err).To(HaveField("Reason", tc.reason))
			g.Expect(err.Error()).To(And(ContainSubstring(tc.says), Not(ContainSubstring(secretToken))))
		})
	}
}

func TestInvalidKubeconfigs(t *testing.T) {
	checkKubeconfigs(t, map[string]kubeconfigCase{
		"nothing is invalid": {
			reason: ucv1.KubeconfigInvalidReason, says: "current-context"},
		"garbage is invalid, and is not quoted": {
			kubeconfig: "apiVersion: {" + secretToken, reason: ucv1.KubeconfigInvalidReason, says: "cannot be parsed"},
		"a wrong type is invalid, and is not quoted": {
			kubeconfig: kubeconfigWith(
				server,
				"client-key-data: '"+secretToken+"'",
			),
			reason: ucv1.KubeconfigInvalidReason,
			says:   "cannot be parsed",
		},
		"a context that does not exist is invalid": {
			kubeconfig: strings.Replace(kubeconfigWith(server, token), "current-context: here", "current-context: gone", 1),
			reason:     ucv1.KubeconfigInvalidReason, says: "no context"},
		"a cluster that does not exist is invalid": {
			kubeconfig: strings.Replace(kubeconfigWith(server, token), "cluster: there,", "cluster: gone,", 1),
			reason:     ucv1.KubeconfigInvalidReason, says: "no cluster"},
		"a user that does not exist is invalid": {
			kubeconfig: strings.Replace(kubeconfigWith(server, token), "user: me", "user: gone", 1),
			reason:     ucv1.KubeconfigInvalidReason, says: "no user"},
		"a missing server is invalid": {
			kubeconfig: kubeconfigWith("", token), reason: ucv1.KubeconfigInvalidReason, says: "no server"},
		"a user without credentials is not authorized": {
			kubeconfig: kubeconfigWith(server, ""), reason: ucv1.UnauthorizedReason, says: "system:anonymous"},
		"credentials in the server's address are invalid": {
			kubeconfig: kubeconfigWith("server: 'https://u:"+secretToken+"@192.0.2.1'", token),
			reason:     ucv1.KubeconfigInvalidReason, says: "no server"},
		"certificates that are none are invalid": {
			kubeconfig: kubeconfigWith(server+", certificate-authority-data: dDBwLXMzY3JldA==", token),
			reason:     ucv1.KubeconfigInvalidReason, says: "certificate data"},
	})
}

// hostile is a kubeconfig of n aliases of a text of that size.
func hostile(n, size int) string {
	return kubeconfigWith(server, token) + "extensions:\n- &x \"" + strings.Repeat("A", size) + "\"\n" + strings.Repeat("- *x\n", n)
}

func TestKubeconfigsThatAskForMemoryAreInvalid(t *testing.T) {
	for name, tc := range map[string]struct{ kubeconfig, says string }{
		"aliases of a long text":            {hostile(10_000, 50_000), "uses YAML aliases"},
		"one alias":                         {hostile(1, 1), "uses YAML aliases"},
		"an alias within a cluster":         {kubeconfigWith(server+", extensions: [&x [], *x]", token), "uses YAML aliases"},
		"an alias that stands for itself":   {kubeconfigWith(server+", extensions: &x [*x]", token), "uses YAML aliases"},
		"lists in lists":                    {kubeconfigWith(server+", extensions: "+strings.Repeat("[", 2_000)+strings.Repeat("]", 2_000), token), "nested too deeply"},
		"lists in lists that are not ended": {kubeconfigWith(server+", extensions: "+strings.Repeat("[", 100_000), token), "cannot be parsed"},
		"more bytes than a kubeconfig has": {kubeconfigWith(server, token) + "# " +
			strings.Repeat("A", maxKubeconfig), "more than 128 KiB"},
		"a name that is as long": {"name: " + strings.Repeat("A", maxKubeconfig), "more than 128 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := allocated()
			_, err := ParseKubeconfig([]byte(tc.kubeconfig), Allow{})
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
			g.Expect(err).To(HaveField("Reason", ucv1.KubeconfigInvalidReason))
			g.Expect(allocated()-before).To(BeNumerically("<", 64<<20), "bytes that looking at it took")
		})
	}
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	stats := runtime.MemStats{}
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func TestRefusedKubeconfigs(t *testing.T) {
	checkKubeconfigs(t, map[string]kubeconfigCase{
		"exec is refused": {
			kubeconfig: kubeconfigWith(server, "exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/"+secretToken+"}"),
			reason:     ucv1.KubeconfigRefusedReason, says: "uses exec,"},
		"auth-provider is refused": {
			kubeconfig: kubeconfigWith(
				server,
				"auth-provider: {name: oidc}",
			),
			reason: ucv1.KubeconfigRefusedReason,
			says:   "auth-provider",
		},
		"a token file is refused": {
			kubeconfig: kubeconfigWith(server, "tokenFile: /etc/passwd"), reason: ucv1.KubeconfigRefusedReason, says: "tokenFile"},
		"a client certificate's path is refused": {
			kubeconfig: kubeconfigWith(
				server,
				"client-certificate: /x",
			),
			reason: ucv1.KubeconfigRefusedReason,
			says:   "client-certificate",
		},
		"a client key's path is refused": {
			kubeconfig: kubeconfigWith(server, "client-key: /x"), reason: ucv1.KubeconfigRefusedReason, says: "client-key"},
		"a certificate authority's path is refused": {
			kubeconfig: kubeconfigWith(server+", certificate-authority: /x", token),
			reason:     ucv1.KubeconfigRefusedReason, says: "certificate-authority"},
		"insecure TLS is refused": {
			kubeconfig: kubeconfigWith(server+", insecure-skip-tls-verify: true", token),
			reason:     ucv1.KubeconfigRefusedReason, says: "insecure-skip-tls-verify"},
		"a server without TLS is refused": {
			kubeconfig: kubeconfigWith("server: 'http://192.0.2.1'", token), reason: ucv1.KubeconfigRefusedReason, says: "without TLS"},
		"a proxy is refused": {
			kubeconfig: kubeconfigWith(
				server+", proxy-url: 'http://192.0.2.2'",
				token,
			),
			reason: ucv1.KubeconfigRefusedReason,
			says:   "proxy-url",
		},
		"impersonation is refused": {
			kubeconfig: kubeconfigWith(server, token+", as: system:admin"), reason: ucv1.KubeconfigRefusedReason, says: "impersonation"},
		"everything that is wrong is named": {
			kubeconfig: kubeconfigWith(server+", proxy-url: 'http://192.0.2.2'", "tokenFile: /x"),
			allow:      Allow{Exec: true}, reason: ucv1.KubeconfigRefusedReason, says: "tokenFile, proxy-url"},
	})
}

func TestAcceptedKubeconfigs(t *testing.T) {
	all := Allow{Exec: true, AuthProvider: true, FilePaths: true, InsecureTLS: true, Proxy: true, Impersonation: true}
	checkKubeconfigs(t, map[string]kubeconfigCase{
		"a token":    {kubeconfig: kubeconfigWith(server, token)},
		"a password": {kubeconfig: kubeconfigWith(server, "username: a, password: b")},
		"what the operator allows": {
			kubeconfig: kubeconfigWith(
				server+", insecure-skip-tls-verify: true, proxy-url: 'http://192.0.2.2'",
				token+", as: a",
			),
			allow: all,
		},
	})
}

const besideKubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c",
"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],
"clusters":[{"name":"k","cluster":{"server":"https://192.0.2.1:6443","tls-server-name":"api",
"certificate-authority-data":"Q0E="}}],
"users":[{"name":"u","user":{"token":"` + secretToken + `"}}]}`

func TestKubeconfigOfTheCCMHasNothingOfOurs(t *testing.T) {
	g := NewWithT(t)
	s, _ := sessionWith(interceptor.Funcs{})
	endpoint, err := endpointOf([]byte(besideKubeconfig), &rest.Config{})
	g.Expect(err).NotTo(HaveOccurred())
	s.endpoint = endpoint
	file := filepath.Join(t.TempDir(), "token")
	g.Expect(os.WriteFile(file, []byte("of the CCM"), 0o600)).To(Succeed())
	text, err := s.KubeconfigWith(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring(secretToken))
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.Host).To(Equal("https://192.0.2.1:6443"))
	g.Expect(config.ServerName).To(Equal("api"))
	g.Expect(config.CAData).To(Equal([]byte("CA")))
	g.Expect(config.BearerTokenFile).To(Equal(file))
	g.Expect(config.BearerToken).To(Equal("of the CCM"))
}
