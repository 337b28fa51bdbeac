package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// tailBytes is how much of a log's end is read to quote its last lines.
	tailBytes = 4096
	// tailLines is how many of them an error quotes.
	tailLines = 3
)

// Process is a child process, running or ended.
type Process struct {
	name      string
	logFile   string
	cmd       *exec.Cmd
	startedAt time.Time
	endedAt   time.Time
	done      chan struct{}
	stopping  atomic.Bool
}

// PID is the process's number, valid also after its end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// StartedAt is when the process was started.
func (p *Process) StartedAt() time.Time { return p.startedAt }

// EndedAt is when the process ended; valid once Done is closed.
func (p *Process) EndedAt() time.Time { return p.endedAt }

// LogFile is the path of the process's log.
func (p *Process) LogFile() string { return p.logFile }

// Done is closed when the process has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stopping tells whether someone asked the process to end.
func (p *Process) Stopping() bool { return p.stopping.Load() }

// ExitCode is the process's exit code, 128 plus the number of the signal that
// ended it, or -1 while it runs.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
	default:
		return -1
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// Wait waits for the end of the process and returns its exit code.
func (p *Process) Wait(ctx context.Context) (int, error) {
	select {
	case <-p.done:
		return p.ExitCode(), nil
	case <-ctx.Done():
		return -1, fmt.Errorf("wait for the end of %s: %w", p.name, ctx.Err())
	}
}

// Terminate asks the process to end (SIGTERM).
func (p *Process) Terminate() {
	p.stopping.Store(true)
	// Signal refuses a process that was reaped, so no stranger is hit.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
}

// Kill ends the process and all that it started (SIGKILL).
func (p *Process) Kill() {
	p.stopping.Store(true)
	if errors.Is(p.cmd.Process.Signal(syscall.SIGKILL), os.ErrProcessDone) {
		return
	}
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
}

// Stop asks the process to end, kills it when it has not after grace or when ctx
// ends, and returns after its end.
func (p *Process) Stop(ctx context.Context, grace time.Duration) error {
	p.Terminate()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	p.Kill()
	<-p.done
	return ctx.Err()
}

// Failure describes the end of the process in one line with the end of its log.
func (p *Process) Failure() error {
	return fmt.Errorf("%s ended with exit code %d; its log %s ends with: %s",
		p.name, p.ExitCode(), p.logFile, p.LogTail(tailLines))
}

// LogTail returns the last lines of the process's log, joined by " | ".
func (p *Process) LogTail(lines int) string {
	file, err := os.Open(p.logFile)
	if err != nil {
		return "(unreadable: " + err.Error() + ")"
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = file.Seek(-tailBytes, io.SeekEnd)
	}
	content, _ := io.ReadAll(io.LimitReader(file, tailBytes))
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return "(nothing)"
	}
	all := strings.Split(string(content), "\n")
	return strings.Join(all[max(0, len(all)-lines):], " | ")
}
