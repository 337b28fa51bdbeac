package process_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// TestMain lets the test binary be what the testbed program is: its own shim, and
// a supervisor in a process of its own that a test can kill.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "shim":
		fmt.Fprintln(os.Stderr, process.RunShim(os.Args[2:]))
		os.Exit(1)
	case "supervise":
		os.Exit(supervise(os.Args[2]))
	}
	os.Exit(m.Run())
}

// supervise starts a long process, prints its number and waits to be killed.
func supervise(logFile string) int {
	child, err := process.NewSupervisor().Start(process.Options{
		Command: "/bin/sh", Args: []string{"-c", "exec sleep 600"}, LogFile: logFile,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(child.PID())
	<-child.Done()
	return 0
}
