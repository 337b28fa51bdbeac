package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// newCluster has keys, ports and kubeconfigs, but no process.
func newCluster(t *testing.T) *Cluster {
	t.Helper()
	g := NewWithT(t)
	c := &Cluster{options: Options{Name: "east", Index: 3, Dir: t.TempDir()}}
	c.files = filesIn(c.options.Dir)
	var err error
	c.ca, err = writePKI(c.files)
	g.Expect(err).NotTo(HaveOccurred())
	c.ports, err = reservePorts()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(c.ports.release)
	g.Expect(c.writeKubeconfigs()).To(Succeed())
	return c
}

func TestCertificates(t *testing.T) {
	g := NewWithT(t)
	c := newCluster(t)
	roots := x509.NewCertPool()
	g.Expect(roots.AppendCertsFromPEM(c.CA())).To(BeTrue())

	server, err := tls.LoadX509KeyPair(c.Files().ServerCert, c.Files().ServerKey)
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc"} {
		_, err = server.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name})
		g.Expect(err).NotTo(HaveOccurred(), name)
	}

	config, err := c.ClientCert("jane", "admins", "auditors")
	g.Expect(err).NotTo(HaveOccurred())
	client, err := tls.X509KeyPair(config.CertData, config.KeyData)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client.Leaf.Subject.CommonName).To(Equal("jane"))
	g.Expect(client.Leaf.Subject.Organization).To(ConsistOf("admins", "auditors"))
}

func TestKubeconfigIsSelfContained(t *testing.T) {
	g := NewWithT(t)
	c := newCluster(t)
	certified, err := c.ClientCert("jane")
	g.Expect(err).NotTo(HaveOccurred())
	for _, config := range []*struct{ content []byte }{{c.Kubeconfig(c.AdminConfig())}, {c.Kubeconfig(certified)}} {
		parsed, err := clientcmd.RESTConfigFromKubeConfig(config.content)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(parsed.Host).To(Equal(fmt.Sprintf("https://127.0.0.1:%d", c.ports.apiserver.number)))
		g.Expect(parsed.CAData).To(Equal(c.CA()))
		g.Expect(parsed.CertData != nil).NotTo(Equal(parsed.BearerToken != ""))
	}
	onDisk, err := os.ReadFile(c.Files().AdminKubeconfig)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(onDisk).To(Equal(c.Kubeconfig(c.AdminConfig())))
}

func TestReservedPortIsOursAndUsable(t *testing.T) {
	g := NewWithT(t)
	reserved, err := reservePort()
	g.Expect(err).NotTo(HaveOccurred())
	defer reserved.release()
	address := fmt.Sprintf("127.0.0.1:%d", reserved.number)

	_, err = net.Listen("tcp", address)
	g.Expect(err).To(MatchError(syscall.EADDRINUSE), "others do not get the port")

	sharing := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var option error
		err := c.Control(func(fd uintptr) {
			option = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return option
	}}
	server, err := sharing.Listen(t.Context(), "tcp", address)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = server.Close() }()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(connection.Close()).To(Succeed())
}

func TestStartNamesTheLogOfAProcessThatDies(t *testing.T) {
	tests := map[string]struct {
		etcd, apiserver string
		want            string
	}{
		"a dead etcd is named, although the API server would wait for it": {
			etcd: "echo bad data dir; exit 2", apiserver: "exec sleep 600",
			want: "start cluster east: etcd of cluster east ended with exit code 2; its log %s/logs/etcd.log ends with: bad data dir",
		},
		"a dead API server is named": {
			etcd: "exec sleep 600", apiserver: "echo unknown flag >&2; exit 1",
			want: "start cluster east: kube-apiserver of cluster east ended with exit code 1; its log %s/logs/kube-apiserver.log ends " +
				"with: unknown flag",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bin, dir := t.TempDir(), t.TempDir()
			for component, script := range map[string]string{"etcd": test.etcd, "kube-apiserver": test.apiserver} {
				path := filepath.Join(bin, component)
				g.Expect(os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755)).To(Succeed())
			}
			supervisor := process.NewSupervisor()
			defer supervisor.Close()
			_, err := Start(t.Context(), Options{Name: "east", Index: 2, Dir: dir, BinDir: bin, Supervisor: supervisor})
			g.Expect(err).To(MatchError(fmt.Sprintf(test.want, dir)))
		})
	}
}
