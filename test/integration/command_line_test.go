package integration_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// commandLine is the program in the hands of one person.
type commandLine struct {
	world      *world
	kubeconfig string
}

// commandLineOf is that of a person whom the management cluster knows by a certificate.
func (w *world) commandLineOf(name string, groups ...string) commandLine {
	w.t.Helper()
	g := NewWithT(w.t)
	user, err := suite.environment.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := user.KubeConfig()
	g.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(w.t.TempDir(), "kubeconfig")
	g.Expect(os.WriteFile(path, kubeconfig, 0o600)).To(Succeed())
	return commandLine{world: w, kubeconfig: path}
}

// run is one command about the Cluster's namespace, to its end.
func (l commandLine) run(arguments ...string) (output string, code int) {
	out := &bytes.Buffer{}
	err := l.execute(func(command *cobra.Command) error { return command.ExecuteContext(l.world.t.Context()) }, out, arguments...)
	return out.String(), terminal.ExitCode(err)
}

// execute runs one command at a time: controller-runtime has its flag --kubeconfig in one variable of the process.
func (l commandLine) execute(run func(*cobra.Command) error, out io.Writer, arguments ...string) error {
	suite.commandLine.Lock()
	defer suite.commandLine.Unlock()
	command := cli.Command()
	command.SetArgs(slices.Concat(arguments, []string{"--namespace=" + l.world.namespace, "--kubeconfig=" + l.kubeconfig}))
	command.SetOut(out)
	command.SetErr(out)
	return run(command)
}
