package dashboard

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"
)

// migrated is how long the testbed's cluster alpha may take: about two minutes where nothing else runs.
const migrated = 15 * time.Minute

// program of the checkout, which lives until the test ends, and what it prints. It gets time to stop what it has started itself.
func program(t *testing.T, name string, arguments ...string) *bufio.Scanner {
	t.Helper()
	g := NewWithT(t)
	path, err := filepath.Abs(filepath.Join(root, "_output/bin", name))
	g.Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(t.Context(), path, arguments...)
	command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(syscall.SIGINT) }, time.Minute
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // Whoever is killed cleans nothing up.
	command.Stderr = t.Output()
	out, err := command.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(command.Start()).To(Succeed(), "make binaries-test builds it")
	t.Cleanup(func() { _ = command.Wait() }) // The test's context has ended before.
	return bufio.NewScanner(out)
}

// prints waits for a line, and reads on.
func prints(t *testing.T, lines *bufio.Scanner, what string) string {
	t.Helper()
	var said []string
	for lines.Scan() {
		if said = append(said, lines.Text()); strings.Contains(lines.Text(), what) {
			go func() {
				for lines.Scan() {
				}
			}()
			return strings.TrimSpace(lines.Text())
		}
	}
	t.Fatalf("%q was not printed:\n%s", what, strings.Join(said, "\n"))
	return ""
}

// A person looks at a cluster while it migrates: real control planes, the manager, and the command as it is released.
func TestDashboardOfATestbed(t *testing.T) {
	g, project := NewWithT(t), t.TempDir()
	config, err := filepath.Abs(filepath.Join(root, "config"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(config, filepath.Join(project, "config"))).To(Succeed())
	prints(t, program(t, "testbed", "up", "--root="+project), "Ctrl-C ends everything")
	kubeconfig := "--kubeconfig=" + filepath.Join(project, "_output/testbed/kubeconfigs/management")
	page := opened(t, prints(t, program(t, "ccm-migration-controller", "dashboard", kubeconfig), "http://"), look{390, 844, "light"})
	page.eventually("#clusters", "of 4")
	g.Expect(page.violations()).To(BeEmpty())

	page.visit("/clusters/user-alpha/alpha")
	evaluate[chromedp.Void](page, "window.sameDocument = true")
	prints(t, program(t, "kubectl", kubeconfig, "-n=user-alpha", "patch", "uc/alpha", "--type=merge",
		`--patch={"spec":{"features":{"externalCloudProvider":true}}}`), "patched")
	steps := []string{""}
	g.Eventually(func() (string, error) {
		step, err := page.says("#steps [aria-current] strong")
		if err == nil && steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
		now, err := page.says("#now")
		return now, err
	}, migrated, 200*time.Millisecond).Should(ContainSubstring("The migration to the external cloud provider is completed."))
	t.Logf("steps that the page showed: %q", steps)
	g.Expect(steps).To(And(ContainElement(HaveSuffix("Roll")), ContainElement(HaveSuffix("Handover"))))
	g.Expect(evaluate[bool](page, "window.sameDocument")).To(BeTrue(), "it was not loaded again")
	g.Expect(page.violations()).To(BeEmpty())
	page.visit("/")
	page.eventually("#clusters", "done")
}
