package suite

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is set for the test program that has a network of its own.
const inside = "E2E_HAS_ITS_NETWORK"

// RunInOwnNetwork runs the specs in a network of their own, whose loopback device has more addresses, and returns their exit
// code: a CCM that others wrote, which shares its Node's network, binds its port of all addresses, and other testbeds may run on
// the machine.
func RunInOwnNetwork(m *testing.M, more ...string) int {
	if os.Getenv(inside) == "" {
		return runInside()
	}
	if err := setUpLoopback(more); err != nil {
		fmt.Fprintln(os.Stderr, "setting up the loopback device:", err)
		return 1
	}
	return m.Run()
}

// runInside runs this program again, in a new network namespace. Whoever is not root gets one by being root in a user
// namespace that knows only themselves.
func runInside() int {
	// The death signal is that of the thread.
	runtime.LockOSThread()
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Env = append(os.Environ(), inside+"=true")
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	err := again.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		fmt.Fprintln(os.Stderr, "starting the test in a network of its own:", err)
		return 1
	}
	return again.ProcessState.ExitCode()
}

// setUpLoopback does what "ip link set lo up" does, and adds addresses.
func setUpLoopback(more []string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		return err
	}
	for i, address := range more {
		alias, err := unix.NewIfreq(fmt.Sprintf("lo:%d", i+1))
		if err != nil {
			return err
		}
		if err := alias.SetInet4Addr(net.ParseIP(address).To4()); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFADDR, alias); err != nil {
			return err
		}
	}
	return nil
}
