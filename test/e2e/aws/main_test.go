package aws_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/awscloud"
)

// inside is set for the test program that has a network of its own.
const inside = "AWS_TEST_HAS_ITS_NETWORK"

// TestMain runs the specs in a network of their own: the CCM, which shares its Node's network, binds its port of all
// addresses, and other testbeds may run on the machine.
func TestMain(m *testing.M) {
	suite.Prepare()
	if os.Getenv(inside) == "" {
		os.Exit(runInside())
	}
	if err := setUpNetwork(); err != nil {
		fmt.Fprintln(os.Stderr, "setting up the loopback device:", err)
		os.Exit(1)
	}
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func TestAWS(t *testing.T) { suite.Run(t, "aws") }

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

// setUpNetwork does what "ip link set lo up" does, and adds the address at which instances find their metadata.
func setUpNetwork() error {
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
	metadata, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	if err := metadata.SetInet4Addr(net.ParseIP(awscloud.MetadataAddress).To4()); err != nil {
		return err
	}
	return unix.IoctlIfreq(socket, unix.SIOCSIFADDR, metadata)
}
