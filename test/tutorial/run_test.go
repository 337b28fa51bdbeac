//go:build tutorial

package tutorial

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

const (
	root = "../.."
	// started is how long a terminal may take to say what stands on the page; the first time it compiles control planes.
	started = 20 * time.Minute
	// copied is how long any other block may take.
	copied = 10 * time.Minute
)

// reader has copied everything up to now: what a block exports is there in the next one.
type reader struct {
	t       *testing.T
	exports string
}

func TestTheTutorial(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile(page)
	g.Expect(err).NotTo(HaveOccurred())
	r := reader{t: t, exports: filepath.Join(t.TempDir(), "exports")}
	g.Expect(os.WriteFile(r.exports, []byte("unset KUBECONFIG\n"), 0o600)).To(Succeed())
	for _, one := range read(t, content) {
		t.Logf("$ %s", one.commands)
		if one.terminal {
			r.open(one)
		} else {
			r.copy(one)
		}
	}
}

func (r reader) command(ctx context.Context, commands string) *exec.Cmd {
	bash := exec.CommandContext(ctx, "bash", "-c", "set -euo pipefail; source "+r.exports+"\n"+commands+"\nexport -p >"+r.exports)
	bash.Dir = root
	// Whoever is killed cannot press Ctrl-C.
	bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	bash.Cancel = func() error { return syscall.Kill(-bash.Process.Pid, syscall.SIGINT) }
	bash.WaitDelay = time.Minute
	return bash
}

func (r reader) copy(one block) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), copied)
	defer cancel()
	began := time.Now()
	printed, err := r.command(ctx, one.commands).CombinedOutput()
	r.t.Logf("%s\n%.0f s", printed, time.Since(began).Seconds())
	if err != nil {
		r.t.Fatal(err)
	}
	if line := missing(string(printed), one.prints); line != "" {
		r.t.Fatalf("it does not print: %s", line)
	}
}

// open a terminal, in which Ctrl-C is pressed at the end.
func (r reader) open(one block) {
	r.t.Helper()
	g, printed := NewWithT(r.t), &screen{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	bash := r.command(ctx, one.commands)
	bash.Stdout, bash.Stderr = printed, printed
	g.Expect(bash.Start()).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- bash.Wait() }()
	r.t.Cleanup(func() {
		cancel()
		r.t.Log(<-ended)
	})
	g.Eventually(func() (string, error) {
		select {
		case err := <-ended:
			ended <- err
			return "", StopTrying("it has ended").Wrap(err)
		default:
			return missing(printed.String(), one.prints), nil
		}
	}, started, time.Second).Should(BeEmpty(), printed.String)
}

// screen is what a terminal shows while its commands go on.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
