package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Options describe one child process.
type Options struct {
	// Name is what errors call the process; the command's base name by default.
	Name string
	// Command is the path of the program, Args are its arguments without the name.
	Command string
	Args    []string
	// Env is added to the variables that are inherited: PATH, and GOGC when it is set.
	Env []string
	// LogFile receives standard output and standard error; it is appended to.
	LogFile string
	// Namespaces, when set, gives the process a hostname and mounts of its own.
	Namespaces *Namespaces
}

// Namespaces is the private view of one child process.
type Namespaces struct {
	// Shim is the command line, without the shim's own flags, that ends in
	// RunShim: the path of the testbed program followed by its subcommand.
	Shim []string
	// Hostname replaces the host's; empty keeps it.
	Hostname string
	// Binds are mounted in the order of their targets.
	Binds []Bind
	// Staging is an existing empty directory that the shim mounts over while it
	// builds the view; it is needed when Binds is not empty and stays empty.
	Staging string
}

// Bind shows the file or directory Source at the path Target, which need not exist.
type Bind struct {
	Source, Target string
}

// errClosed is what Start answers after Close.
var errClosed = errors.New("supervisor is closed")

// Supervisor starts processes that do not outlive it.
type Supervisor struct {
	requests chan func()
	closing  chan struct{}
	close    sync.Once

	mu   sync.Mutex
	live map[*Process]struct{}
}

// NewSupervisor returns a supervisor that runs until Close.
func NewSupervisor() *Supervisor {
	s := &Supervisor{
		requests: make(chan func()),
		closing:  make(chan struct{}),
		live:     map[*Process]struct{}{},
	}
	go s.spawn()
	return s
}

// spawn forks on one thread for ever: the parent-death signal follows the thread
// that forked, and the runtime ends idle threads whenever it likes.
func (s *Supervisor) spawn() {
	runtime.LockOSThread()
	for {
		select {
		case request := <-s.requests:
			request()
		case <-s.closing:
			return
		}
	}
}

// Start starts a process and returns at once.
func (s *Supervisor) Start(options Options) (*Process, error) {
	if options.Name == "" {
		options.Name = filepath.Base(options.Command)
	}
	log, err := openLog(options.LogFile)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", options.Name, err)
	}
	defer func() { _ = log.Close() }()

	p := &Process{name: options.Name, logFile: options.LogFile, done: make(chan struct{})}
	p.cmd = command(options)
	p.cmd.Stdout, p.cmd.Stderr = log, log

	started := make(chan error, 1)
	select {
	case s.requests <- func() { started <- s.fork(p) }:
	case <-s.closing:
		return nil, fmt.Errorf("start %s: %w", options.Name, errClosed)
	}
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", options.Name, err)
	}
	go s.await(p)
	return p, nil
}

// fork runs on the supervisor's thread.
func (s *Supervisor) fork(p *Process) error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.startedAt = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[p] = struct{}{}
	return nil
}

func (s *Supervisor) await(p *Process) {
	// The exit code is read from ProcessState; an error here only repeats it.
	_ = p.cmd.Wait()
	p.endedAt = time.Now()
	// A container's other processes end with its first one; so do ours.
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	s.mu.Lock()
	delete(s.live, p)
	s.mu.Unlock()
	close(p.done)
}

// Close kills every process that still runs, waits for their end and refuses new ones.
func (s *Supervisor) Close() {
	s.close.Do(func() { close(s.closing) })
	s.mu.Lock()
	live := make([]*Process, 0, len(s.live))
	for p := range s.live {
		live = append(live, p)
	}
	s.mu.Unlock()
	for _, p := range live {
		p.Kill()
	}
	for _, p := range live {
		<-p.Done()
	}
}

func openLog(path string) (*os.File, error) {
	if path == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

func command(options Options) *exec.Cmd {
	argv := append([]string{options.Command}, options.Args...)
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if options.Namespaces != nil {
		argv = options.Namespaces.wrap(argv)
		isolate(attributes, os.Geteuid(), os.Getegid())
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	// Whoever runs tests may let programs that live for minutes use more memory and less time.
	if tuned, found := os.LookupEnv("GOGC"); found {
		cmd.Env = append(cmd.Env, "GOGC="+tuned)
	}
	cmd.Env = append(cmd.Env, options.Env...)
	cmd.SysProcAttr = attributes
	return cmd
}

// wrap returns the shim's command line for argv.
func (n *Namespaces) wrap(argv []string) []string {
	wrapped := append([]string{}, n.Shim...)
	if n.Hostname != "" {
		wrapped = append(wrapped, "--hostname="+n.Hostname)
	}
	if n.Staging != "" {
		wrapped = append(wrapped, "--staging="+n.Staging)
	}
	for _, bind := range n.Binds {
		wrapped = append(wrapped, "--bind="+bind.Source+":"+bind.Target)
	}
	return append(append(wrapped, "--"), argv...)
}

// isolate asks for new namespaces; whoever is not root gets them by being root in
// a user namespace that knows only themselves.
func isolate(attributes *syscall.SysProcAttr, uid, gid int) {
	attributes.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS
	if uid == 0 {
		return
	}
	attributes.Cloneflags |= syscall.CLONE_NEWUSER
	attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
}
