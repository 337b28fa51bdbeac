package process_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

const deadline = 20 * time.Second

func newSupervisor(t *testing.T) *process.Supervisor {
	t.Helper()
	supervisor := process.NewSupervisor()
	t.Cleanup(supervisor.Close)
	return supervisor
}

func TestExitCodes(t *testing.T) {
	tests := map[string]struct {
		script string
		want   int
	}{
		"a process that succeeds ends with 0":                        {script: "true", want: 0},
		"a process that fails ends with its own code":                {script: "exit 3", want: 3},
		"a process ended by a signal ends with 128 plus that signal": {script: "kill -KILL $$", want: 137},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			child, err := newSupervisor(t).Start(process.Options{Command: "/bin/sh", Args: []string{"-c", test.script}})
			g.Expect(err).NotTo(HaveOccurred())
			code, err := child.Wait(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(code).To(Equal(test.want))
			g.Expect(child.EndedAt()).To(BeTemporally(">=", child.StartedAt()))
		})
	}
}

func TestStop(t *testing.T) {
	tests := map[string]struct {
		script string
		grace  time.Duration
		want   int
	}{
		"a process that obeys ends with its own code": {
			script: "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done", grace: deadline, want: 7,
		},
		"a process that ignores SIGTERM is killed after the grace period": {
			script: "trap '' TERM; echo ready; while :; do sleep 0.05; done", grace: 100 * time.Millisecond, want: 137,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			log := filepath.Join(t.TempDir(), "log")
			child, err := newSupervisor(t).Start(process.Options{
				Command: "/bin/sh", Args: []string{"-c", test.script}, LogFile: log,
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Eventually(func() string { return child.LogTail(1) }, deadline).Should(Equal("ready"))
			g.Expect(child.ExitCode()).To(Equal(-1))
			g.Expect(child.Stop(t.Context(), test.grace)).To(Succeed())
			g.Expect(child.Stopping()).To(BeTrue())
			g.Expect(child.ExitCode()).To(Equal(test.want))
		})
	}
}

func TestFailureQuotesTheLog(t *testing.T) {
	g := NewWithT(t)
	log := filepath.Join(t.TempDir(), "log")
	child, err := newSupervisor(t).Start(process.Options{
		Name: "etcd", Command: "/bin/sh", Args: []string{"-c", "for i in 1 2 3 4; do echo line $i; done; exit 5"}, LogFile: log,
	})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = child.Wait(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(child.Failure()).To(MatchError(
		"etcd ended with exit code 5; its log " + log + " ends with: line 2 | line 3 | line 4"))
}

func TestEnvironmentIsOnlyPathAndWhatIsGiven(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("SECRET_OF_THE_HOST", "x")
	t.Setenv("GOGC", "123")
	log := filepath.Join(t.TempDir(), "log")
	child, err := newSupervisor(t).Start(process.Options{Command: "/usr/bin/env", Env: []string{"A=b"}, LogFile: log})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = child.Wait(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(log)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Fields(string(content))).To(ConsistOf("PATH="+os.Getenv("PATH"), "GOGC=123", "A=b"))
}

func TestClose(t *testing.T) {
	g := NewWithT(t)
	supervisor := process.NewSupervisor()
	child, err := supervisor.Start(process.Options{Command: "/bin/sh", Args: []string{"-c", "exec sleep 600"}})
	g.Expect(err).NotTo(HaveOccurred())
	supervisor.Close()
	g.Expect(child.Done()).To(BeClosed())
	g.Expect(child.ExitCode()).To(Equal(137))
	_, err = supervisor.Start(process.Options{Command: "/bin/true"})
	g.Expect(err).To(MatchError(ContainSubstring("start true: supervisor is closed")))
}

func TestChildrenDieWithTheSupervisorsProcess(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	parent := exec.Command(self, "supervise", filepath.Join(t.TempDir(), "log"))
	output, err := parent.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parent.Start()).To(Succeed())
	line, err := bufio.NewReader(output).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(syscall.Kill(pid, 0)).To(Succeed())

	g.Expect(parent.Process.Kill()).To(Succeed())
	g.Eventually(func() bool { return running(pid) }, deadline).Should(BeFalse())
	_ = parent.Wait()
}

// running tells whether a process executes; a zombie whose new parent is slow to
// reap it does not.
func running(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}
