package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/process"
)

// Core is the label of the specs that make test runs.
const Core = "core"

// reportsVariable names a folder that gets a JUnit report of each package, named after it. The flag of Ginkgo takes one
// file for each package as well, but beside its sources.
const reportsVariable = "E2E_REPORTS"

// willRun are the texts of the leaves that are not filtered out. The specs of Ginkgo are global, and so is this.
var willRun map[string]bool

// Prepare is what each TestMain begins with. It lets the test program also be the shim that the kubelets start
// processes with, and then never returns.
func Prepare() {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		fmt.Fprintln(os.Stderr, process.RunShim(os.Args[2:]))
		os.Exit(1)
	}
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS does not name the directory that make binaries-test fills: run make test")
		os.Exit(1)
	}
	ctrl.SetLogger(logr.Discard())
}

// Run runs the specs of a package.
func Run(t *testing.T, name string) {
	t.Helper()
	RegisterFailHandler(Fail)
	willRun = selected(PreviewSpecs(name))
	_, reporter := GinkgoConfiguration()
	if dir := os.Getenv(reportsVariable); dir != "" {
		NewWithT(t).Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
		reporter.JUnitReport = filepath.Join(dir, name+".xml")
	}
	RunSpecs(t, name, reporter)
}

func selected(preview Report) map[string]bool {
	texts := map[string]bool{}
	for _, spec := range preview.SpecReports.WithLeafNodeType(types.NodeTypeIt) {
		texts[spec.LeafNodeText] = texts[spec.LeafNodeText] || !spec.State.Is(types.SpecStateSkipped|types.SpecStatePending)
	}
	return texts
}
