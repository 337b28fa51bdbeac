package suite

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
)

// ProjectRoot is seen from the folder of a package of end-to-end tests, in which go test runs it.
func ProjectRoot() string {
	GinkgoHelper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	Expect(err).NotTo(HaveOccurred())
	return root
}

// OutputDir is where something leaves its raw records: name is that of the package, and of what it does.
func OutputDir(name string) string {
	GinkgoHelper()
	return filepath.Join(ProjectRoot(), "_output", "e2e", filepath.FromSlash(name))
}

// Binaries is the folder of what make binaries-test builds.
func Binaries() string {
	GinkgoHelper()
	dir, err := filepath.Abs(os.Getenv("KUBEBUILDER_ASSETS"))
	Expect(err).NotTo(HaveOccurred())
	return dir
}

// BedOptions are those of a testbed that writes what it does beside its raw records.
func BedOptions(name string) (bed.Options, *demo.Screen) {
	GinkgoHelper()
	options, err := demo.BedOptions(ProjectRoot(), filepath.Join("e2e", filepath.FromSlash(name)), LeaseDuration, nil)
	Expect(err).NotTo(HaveOccurred())
	options.BinDir, options.Waits, options.Seed = Binaries(), Waits, Seed()
	screen := demo.NewScreen(logFile(options.Dir, "story.log"))
	options.Progress = screen.Say
	kubelets := logFile(options.Dir, "kubelets.log")
	options.Log = funcr.New(func(prefix, args string) { _, _ = fmt.Fprintln(kubelets, prefix, args) },
		funcr.Options{LogTimestamp: true})
	GinkgoWriter.Println("raw records:", options.Dir)
	return options, screen
}

// Seed draws what user clusters run besides. It is the one that Ginkgo prints, and that -ginkgo.seed sets.
func Seed() uint64 { return uint64(GinkgoRandomSeed()) }

// logFile is for writers that may outlive the spec, whose output GinkgoWriter would give to another one.
func logFile(dir, name string) io.Writer {
	GinkgoHelper()
	Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	file, err := os.Create(filepath.Join(dir, name))
	Expect(err).NotTo(HaveOccurred())
	return file
}

// Outlasting is for what goes on after a node has ended. It ends when cancel is called, or the node is interrupted
// before it called release.
func Outlasting(ctx SpecContext) (outlasting context.Context, cancel context.CancelFunc, release func() bool) {
	outlasting, cancel = context.WithCancel(context.WithoutCancel(ctx))
	return outlasting, cancel, context.AfterFunc(ctx, cancel)
}

// ExpectStopped ends a testbed and looks for what is left of it.
func ExpectStopped(b *bed.Bed, stop func()) {
	GinkgoHelper()
	below := Descendants(os.Getpid())
	GinkgoWriter.Printf("%d processes run\n", len(below))
	stop()
	Expect(b.Err()).NotTo(HaveOccurred(), "a part of the testbed failed")
	ExpectNoneAlive(below)
	ExpectEmptyRegistry(b.Options().Dir)
}
