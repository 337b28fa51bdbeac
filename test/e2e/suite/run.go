package e2e_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// TestMain lets the test program also be the shim that the kubelets start processes with.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		fmt.Fprintln(os.Stderr, process.RunShim(os.Args[2:]))
		os.Exit(1)
	}
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS does not name the directory that make binaries fills: run make test")
		os.Exit(1)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
