package integration_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// The program is a plugin of kubectl under another name, and kubectl completes what it completes.
func TestTheKubectlPlugin(t *testing.T) {
	t.Parallel()
	g, folder := NewWithT(t), t.TempDir()
	w := &world{t: t, namespace: newNamespace(t)}
	g.Expect(suite.client.Create(t.Context(), newCluster(w.namespace, func(c *ucv1.Cluster) { c.GenerateName, c.Name = "", alpha }))).To(Succeed())
	binaries := os.Getenv("KUBEBUILDER_ASSETS")
	for name, target := range map[string]string{
		"kubectl":                        filepath.Join(binaries, "kubectl"),
		"kubectl-ccm_migration":          filepath.Join(binaries, "ccm-migration-controller"),
		"kubectl_complete-ccm_migration": configPath(filepath.Join("kubectl", "kubectl_complete-ccm_migration")),
	} {
		absolute, err := filepath.Abs(target)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.Symlink(absolute, filepath.Join(folder, name))).To(Succeed())
	}
	person := w.commandLineOf("plugin-user", "system:masters")
	kubectl := func(arguments ...string) string {
		command := exec.CommandContext(t.Context(), filepath.Join(folder, "kubectl"), arguments...)
		command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "KUBECONFIG="+person.kubeconfig)
		said, err := command.CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%s", said)
		return string(said)
	}
	g.Expect(kubectl("ccm-migration", "status", "-n", w.namespace)).To(ContainSubstring(w.namespace + "/alpha"))
	g.Expect(kubectl("ccm-migration", "status", "--help")).To(ContainSubstring("Usage:\n  kubectl ccm-migration status [NAME]"))
	completed := strings.Split(kubectl("__complete", "ccm-migration", "why", "-n", w.namespace, "al"), "\n")
	g.Expect(completed).To(ContainElement("alpha"))
}
