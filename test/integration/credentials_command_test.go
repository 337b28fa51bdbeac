package integration_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// credentialsWorld has a Cluster whose kubeconfig Secret is missing, and the command with an administrator's kubeconfig.
func credentialsWorld(t *testing.T) (w *world, command func(arguments ...string) (string, int)) {
	t.Helper()
	w = newWorld(t)
	w.create()
	w.secret(alpha+"-kubeconfig", nil)
	file, err := clientcmd.Load(w.user.kubeconfig)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	for _, identity := range file.AuthInfos {
		identity.Token = "admin"
	}
	admin := filepath.Join(t.TempDir(), "admin.kubeconfig")
	g.Expect(clientcmd.WriteToFile(*file, admin)).To(Succeed())
	person := w.commandLineOf("credentials-user", "system:masters")
	t.Cleanup(func() { w.user.grantAgain(t) }) // The command binds the rights to another user.
	return w, func(arguments ...string) (string, int) {
		return person.run(append([]string{"usercluster-credentials", alpha, "--admin-kubeconfig=" + admin}, arguments...)...)
	}
}

func (w *world) kubeconfigSecret() []byte {
	w.t.Helper()
	secret := &corev1.Secret{}
	err := suite.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: alpha + "-kubeconfig"}, secret)
	NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
	return secret.Data["value"]
}

func TestCredentialsByToken(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w, command := credentialsWorld(t)
	said, code := command("--method=token")
	g.Expect(code).To(BeZero(), said)
	g.Expect(said).To(And(ContainSubstring("kind: ServiceAccount"), ContainSubstring("name: ccm-migration-controller:simcloud"),
		ContainSubstring("Nothing was changed: --create applies them")))
	g.Expect(w.kubeconfigSecret()).To(BeEmpty())

	said, code = command("--method=token", "--create", "--expires-in=2h")
	g.Expect(code).To(BeZero(), said)
	g.Expect(said).To(And(ContainSubstring("Wrote key value of Secret "+w.namespace+"/alpha-kubeconfig: a token, which expires at "+
		time.Now().UTC().Add(2*time.Hour).Format("2006-01-02T")), ContainSubstring("run this again with --replace")))
	config, err := clientcmd.RESTConfigFromKubeConfig(w.kubeconfigSecret())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(said).NotTo(ContainSubstring(config.BearerToken), "no credentials are printed")
	c, err := client.New(config, client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	review := &authenticationv1.SelfSubjectReview{}
	g.Expect(c.Create(t.Context(), review)).To(Succeed())
	g.Expect(review.Status.UserInfo.Username).To(Equal("system:serviceaccount:kube-system:ccm-migration-controller"))
	g.Expect(c.List(t.Context(), &corev1.NodeList{})).To(Succeed())
	w.pass()
	g.Expect(w.status().Conditions).NotTo(BeEmpty())

	said, code = command("--method=token", "--create")
	g.Expect(code).To(Equal(terminal.ExitRefused), said)
	g.Expect(said).To(ContainSubstring("has key value already; --replace writes it again"))
	before := w.kubeconfigSecret()
	said, code = command("--method=token", "--create", "--replace")
	g.Expect(code).To(BeZero(), said)
	g.Expect(w.kubeconfigSecret()).NotTo(Equal(before))
}

// A certificate that the API server does not know is not written, and a request that no one signs is named.
func TestCredentialsByCertificate(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w, command := credentialsWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	signed := make(chan string, 1)
	go w.signRequests(ctx, signed)
	said, code := command("--create")
	g.Expect(code).NotTo(BeZero(), said)
	g.Expect(<-signed).To(HavePrefix("ccm-migration-controller-"))
	g.Expect(said).To(ContainSubstring("try the new credentials at https://"))
	g.Expect(w.kubeconfigSecret()).To(BeEmpty(), "what does not work is not written")

	for _, wrong := range [][]string{{"--method=password"}, {"--expires-in=1s"}, {"--admin-kubeconfig="}} {
		said, code := command(wrong...)
		g.Expect(code).To(Equal(terminal.ExitRefused), said)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	g.Expect(os.WriteFile(missing, nil, 0o600)).To(Succeed())
	said, code = command("--admin-kubeconfig=" + missing)
	g.Expect(code).To(Equal(1), said)
}

// signRequests as a signer does that the API server does not trust.
func (w *world) signRequests(ctx context.Context, signed chan<- string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return
	}
	issuer := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "unknown"}}
	for ctx.Err() == nil {
		requests := &certificatesv1.CertificateSigningRequestList{}
		if err := w.user.client.List(ctx, requests); err != nil {
			return
		}
		for _, request := range requests.Items {
			if len(request.Status.Conditions) == 0 || len(request.Status.Certificate) > 0 {
				continue
			}
			block, _ := pem.Decode(request.Spec.Request)
			asked, err := x509.ParseCertificateRequest(block.Bytes)
			if err != nil {
				return
			}
			certificate, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
				SerialNumber: big.NewInt(2), Subject: asked.Subject, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
				ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
			}, issuer, asked.PublicKey, key)
			if err != nil {
				return
			}
			request.Status.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
			if w.user.client.SubResource("status").Update(ctx, &request) == nil {
				signed <- request.Name
				return
			}
		}
	}
}
