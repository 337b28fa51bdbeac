package process

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// RunShim furnishes the namespaces that it was started in and then becomes the
// command after "--". It returns only when that failed.
func RunShim(args []string) error {
	view, argv, err := parseShim(args)
	if err != nil {
		return err
	}
	if err := view.furnish(); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("shim: %w", err)
	}
	if err := dieWithParent(); err != nil {
		return err
	}
	if err := syscall.Exec(path, argv, os.Environ()); err != nil {
		return fmt.Errorf("shim: execute %s: %w", path, err)
	}
	return nil
}

// dieWithParent asks for the parent's death signal again: the request belongs to a thread, and the one that executes the
// command need not be the one that was started with it (prctl(2), PR_SET_PDEATHSIG). It keeps the caller on its thread.
func dieWithParent() error {
	runtime.LockOSThread()
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("shim: ask for the parent's death signal: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("shim: the testbed ended")
	}
	return nil
}

func parseShim(args []string) (*Namespaces, []string, error) {
	view := &Namespaces{}
	flags := flag.NewFlagSet("shim", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&view.Hostname, "hostname", "", "hostname inside")
	flags.StringVar(&view.Staging, "staging", "", "empty directory to build mounts on")
	flags.Func("bind", "SRC:DST, may be repeated", func(value string) error {
		// A mount path of Kubernetes never contains a colon, a source may.
		at := strings.LastIndex(value, ":")
		if at <= 0 || !filepath.IsAbs(value[at+1:]) {
			return errors.New("want SRC:DST with an absolute DST")
		}
		view.Binds = append(view.Binds, Bind{Source: value[:at], Target: filepath.Clean(value[at+1:])})
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, nil, fmt.Errorf("shim: %w", err)
	}
	if flags.NArg() == 0 {
		return nil, nil, errors.New("shim: no command; give it after --")
	}
	if len(view.Binds) > 0 && view.Staging == "" {
		return nil, nil, errors.New("shim: binds need --staging, an empty directory")
	}
	return view, flags.Args(), nil
}

// furnish sets the hostname and mounts the binds in the namespaces of the caller.
func (n *Namespaces) furnish() error {
	if n.Hostname != "" {
		if err := unix.Sethostname([]byte(n.Hostname)); err != nil {
			return fmt.Errorf("shim: set hostname %s: %w", n.Hostname, err)
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("shim: make mounts private: %w", err)
	}
	binds := slices.Clone(n.Binds)
	slices.SortStableFunc(binds, func(a, b Bind) int { return strings.Compare(a.Target, b.Target) })
	view := &mounter{staging: n.Staging, own: map[uint64]bool{}}
	for _, bind := range binds {
		if err := view.bind(bind); err != nil {
			return fmt.Errorf("shim: show %s at %s: %w", bind.Source, bind.Target, err)
		}
	}
	return nil
}
