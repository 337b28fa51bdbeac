package integration_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// readyOnly is the kubeconfig of an API server that answers the probe and hangs on everything else.
func readyOnly(t *testing.T) []byte {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" && r.URL.Path != "/api" {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"a": {Server: server.URL, CertificateAuthorityData: ca}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"a": {Token: "a"}},
		Contexts:  map[string]*clientcmdapi.Context{"a": {Cluster: "a", AuthInfo: "a"}}, CurrentContext: "a",
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return text
}

func TestAnAPIServerThatHangsKeepsNoStatusAndNoDeletionBack(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.kubeconfig = readyOnly(t)
	w.deployControlPlane(loopsOn()...)
	w.flip()
	w.passes(3)
	g.Expect(w.condition("UserClusterReachable").Status).To(Equal(metav1.ConditionTrue))
	g.Expect(w.condition("Ready")).To(
		And(HaveField("Status", metav1.ConditionUnknown), HaveField("Message", ContainSubstring("does not answer in time"))),
		"reads that take all their time leave some to say so",
	)

	w.delete()
	w.expectGone()
}
