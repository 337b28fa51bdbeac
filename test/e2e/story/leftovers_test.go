package story_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// ending is how and when a testbed is ended.
type ending struct {
	signal   syscall.Signal
	moment   func(output []byte, below []suite.Child) bool
	wantCode int
}

// 'testbed up' is ended, as make testbed runs it, at several moments and in several ways.
var _ = DescribeTable("No process of a testbed stays behind", Label("leftovers"),
	func(ctx SpecContext, end ending) {
		root := projectOf("story/up")
		testbed := startTestbed(root)
		var below []suite.Child
		Eventually(func() bool {
			below = suite.Descendants(testbed.PID())
			return end.moment(suite.ReadFile(testbed.LogFile()), below)
		}).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(100*time.Millisecond).
			Should(BeTrue(), "the output is in %s", testbed.LogFile())
		GinkgoWriter.Printf("%d processes run\n", len(below))

		Expect(syscall.Kill(testbed.PID(), end.signal)).To(Succeed())
		Eventually(testbed.Done()).WithContext(ctx).WithTimeout(suite.Patience).Should(BeClosed())
		Expect(testbed.ExitCode()).To(Equal(end.wantCode), "%v", testbed.Failure())
		suite.ExpectNoneAlive(below)
		if end.signal != syscall.SIGKILL {
			suite.ExpectEmptyRegistry(filepath.Join(root, "_output", "testbed"))
		}
	},
	Entry("Ctrl-C once everything is ready", ending{
		signal: syscall.SIGINT,
		moment: func(output []byte, _ []suite.Child) bool {
			return bytes.Contains(output, []byte("Ctrl-C ends everything"))
		},
	}, NodeTimeout(suite.StoryTime)),
	Entry("Ctrl-C while it starts", ending{signal: syscall.SIGINT, moment: managerRuns, wantCode: 1},
		NodeTimeout(suite.StoryTime)),
	Entry("killed while it starts", ending{
		signal: syscall.SIGKILL, moment: managerRuns, wantCode: 128 + int(syscall.SIGKILL),
	}, NodeTimeout(suite.StoryTime)),
)

func managerRuns(_ []byte, below []suite.Child) bool {
	return slices.ContainsFunc(below, func(c suite.Child) bool { return c.Name == "ccm-migration-c" })
}

// projectOf makes a folder that looks like the project's to the testbed, so that no testbed of the user is touched.
func projectOf(name string) string {
	GinkgoHelper()
	dir := suite.OutputDir(name)
	Expect(os.RemoveAll(dir)).To(Succeed())
	Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	Expect(os.Symlink(filepath.Join(suite.ProjectRoot(), "config"), filepath.Join(dir, "config"))).To(Succeed())
	return dir
}

// startTestbed starts 'testbed up'; it ends with the spec at the latest.
func startTestbed(root string) *process.Process {
	GinkgoHelper()
	supervisor := process.NewSupervisor()
	DeferCleanup(supervisor.Close)
	testbed, err := supervisor.Start(process.Options{
		Command: filepath.Join(suite.Binaries(), "testbed"), Args: []string{"up", "--root", root},
		LogFile: filepath.Join(root, "output.log"),
	})
	Expect(err).NotTo(HaveOccurred())
	return testbed
}
