package integration_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// The command on real API servers, with what the other commands print. The token of this user cluster is a word that they print: no
// archive is written until it has another one.
func TestSupportBundle(t *testing.T) {
	t.Parallel()
	g, w := NewWithT(t), newWorld(t)
	w.create()
	w.pass()
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	line := []string{"support-bundle", alpha, "--output-file=" + file}
	person := w.commandLineOf("bundle-admin", "system:masters")
	said, code := person.run(line...)
	g.Expect(code).To(Equal(terminal.ExitRefused), said)
	g.Expect(said).To(ContainSubstring("has a value of Secret " + w.namespace + "/alpha-kubeconfig"))
	g.Expect(file).NotTo(BeAnExistingFile())

	kubeconfig(func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) { user.Token = "admin" })(w)
	said, code = person.run(line...)
	g.Expect(code).To(BeZero(), said)
	g.Expect(said).To(ContainSubstring("No file has one of the "))
	files := filesOf(t, file)
	g.Expect(files["cluster.yaml"]).To(ContainSubstring("name: alpha\n"))
	g.Expect(files["plan.txt"]).To(ContainSubstring(w.namespace+"/alpha"), said)
	g.Expect(files["status.txt"]).To(ContainSubstring(w.namespace + "/alpha"))
	g.Expect(files["version.txt"]).To(ContainSubstring("controller-runtime"))
	g.Expect(files["README.md"]).To(ContainSubstring("* the manager: no Deployment of it is in namespace ccm-migration-system"))

	said, code = person.run(line...)
	g.Expect(code).To(Equal(terminal.ExitRefused), said)
	g.Expect(said).To(ContainSubstring("exists already"))
}

// filesOf an archive, without their folder.
func filesOf(t *testing.T, archive string) map[string]string {
	t.Helper()
	g, files := NewWithT(t), map[string]string{}
	data, err := os.Open(archive)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = data.Close() }()
	unzipped, err := gzip.NewReader(data)
	g.Expect(err).NotTo(HaveOccurred())
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(entries)
		g.Expect(err).NotTo(HaveOccurred())
		files[path.Base(header.Name)] = string(text)
	}
}
