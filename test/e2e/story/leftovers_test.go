package e2e_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// TestNoProcessStaysBehind ends 'testbed up', as make testbed runs it, at several moments and in several ways.
func TestNoProcessStaysBehind(t *testing.T) {
	running := func(name string) func([]byte, []child) bool {
		return func(_ []byte, below []child) bool {
			return slices.ContainsFunc(below, func(c child) bool { return c.name == name })
		}
	}
	tests := map[string]struct {
		signal   syscall.Signal
		moment   func(output []byte, below []child) bool
		wantCode int
	}{
		"Ctrl-C once everything is ready": {
			signal: syscall.SIGINT,
			moment: func(output []byte, _ []child) bool { return bytes.Contains(output, []byte("Ctrl-C ends everything")) },
		},
		"Ctrl-C while it starts": {signal: syscall.SIGINT, moment: running("ccm-migration-c"), wantCode: 1},
		"killed while it starts": {signal: syscall.SIGKILL, moment: running("ccm-migration-c"), wantCode: 128 + int(syscall.SIGKILL)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := projectOf(t, "up")
			testbed := startTestbed(t, root)
			var below []child
			g.Eventually(func() bool {
				below = descendants(testbed.PID())
				return tc.moment(readFile(testbed.LogFile()), below)
			}).WithTimeout(patience).WithPolling(100*time.Millisecond).Should(BeTrue(), "the output is in %s", testbed.LogFile())
			t.Logf("%d processes run", len(below))

			g.Expect(syscall.Kill(testbed.PID(), tc.signal)).To(Succeed())
			g.Eventually(testbed.Done()).WithTimeout(patience).Should(BeClosed())
			g.Expect(testbed.ExitCode()).To(Equal(tc.wantCode), "%v", testbed.Failure())
			expectNoneAlive(t, below)
			if tc.signal != syscall.SIGKILL {
				expectEmptyRegistry(t, filepath.Join(root, "_output", "testbed"))
			}
		})
	}
}

// projectOf makes a folder that looks like the project's to the testbed, so that no testbed of the user is touched.
func projectOf(t *testing.T, name string) string {
	t.Helper()
	g := NewWithT(t)
	dir := outputDir(t, name)
	g.Expect(os.RemoveAll(dir)).To(Succeed())
	g.Expect(os.MkdirAll(filepath.Join(dir, "_output"), 0o755)).To(Succeed())
	g.Expect(os.Symlink(filepath.Join(projectRoot(t), "config"), filepath.Join(dir, "config"))).To(Succeed())
	g.Expect(os.Symlink(binaries(t), filepath.Join(dir, "_output", "bin"))).To(Succeed())
	return dir
}

// startTestbed starts 'testbed up'; it ends with the test at the latest.
func startTestbed(t *testing.T, root string) *process.Process {
	t.Helper()
	supervisor := process.NewSupervisor()
	t.Cleanup(supervisor.Close)
	testbed, err := supervisor.Start(process.Options{
		Command: filepath.Join(binaries(t), "testbed"), Args: []string{"up", "--root", root}, LogFile: filepath.Join(root, "output.log"),
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return testbed
}

// readFile returns what there is; nothing when there is no file yet.
func readFile(path string) []byte {
	content, _ := os.ReadFile(filepath.Clean(path))
	return content
}
