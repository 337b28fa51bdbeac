package e2e_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/demo"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	// patience bounds each wait; machines are shared and noisy, and nothing here measures speed.
	patience = 5 * time.Minute
	// leaseDuration is shorter than upstream's, and long enough for a busy machine to renew in time.
	leaseDuration = 6 * time.Second
)

func projectRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return root
}

// outputDir is where a test leaves its raw records.
func outputDir(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(projectRoot(t), "_output", "e2e", name)
}

func binaries(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(os.Getenv("KUBEBUILDER_ASSETS"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return dir
}

// bedOptions are those of a testbed that writes what it does beside its raw records.
func bedOptions(t *testing.T, name string) (bed.Options, *demo.Screen) {
	t.Helper()
	g := NewWithT(t)
	options, err := demo.BedOptions(projectRoot(t), filepath.Join("e2e", name), leaseDuration, nil)
	g.Expect(err).NotTo(HaveOccurred())
	options.BinDir = binaries(t)
	screen := demo.NewScreen(logFile(t, options.Dir, "story.log"))
	options.Progress = screen.Say
	kubelets := logFile(t, options.Dir, "kubelets.log")
	options.Log = funcr.New(func(prefix, args string) { _, _ = fmt.Fprintln(kubelets, prefix, args) }, funcr.Options{LogTimestamp: true})
	t.Logf("raw records: %s", options.Dir)
	return options, screen
}

// logFile is for writers that may outlive the test, which t.Log does not like.
func logFile(t *testing.T, dir, name string) io.Writer {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	file, err := os.Create(filepath.Join(dir, name))
	g.Expect(err).NotTo(HaveOccurred())
	return file
}

// flip sets the feature and returns what the API server made of it.
func flip(ctx context.Context, c client.Client, u *bed.UserCluster, options ...client.PatchOption) (*ucv1.Cluster, error) {
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Options.Name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"features":{"externalCloudProvider":true}}}`))
	return cluster, c.Patch(ctx, cluster, patch, options...)
}

// waitForCluster waits until the Cluster object is as wanted; lacks says what is missing.
func waitForCluster(t *testing.T, b *bed.Bed, u *bed.UserCluster, what string, lacks func(*ucv1.Cluster) string) (cluster *ucv1.Cluster) {
	t.Helper()
	err := b.WaitFor(t.Context(), "Cluster "+u.Options.Name+": "+what, patience, func(ctx context.Context) (lack string, err error) {
		if cluster, err = u.Get(ctx); err != nil {
			return "", err
		}
		return lacks(cluster), nil
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return cluster
}

// isTrue is for waitForCluster.
func isTrue(conditionType string) func(*ucv1.Cluster) string {
	return func(cluster *ucv1.Cluster) string {
		condition := meta.FindStatusCondition(cluster.Status.Conditions, conditionType)
		switch {
		case condition == nil:
			return "there is no condition " + conditionType
		case condition.Status != metav1.ConditionTrue:
			return fmt.Sprintf("%s is %s, %s: %s", conditionType, condition.Status, condition.Reason, condition.Message)
		}
		return ""
	}
}

// records are the raw records so far.
func records(t *testing.T, b *bed.Bed) ([]simcloud.Call, []loops.Sample) {
	t.Helper()
	g := NewWithT(t)
	callFile, err := os.Open(filepath.Clean(b.File("simcloud.jsonl")))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = callFile.Close() }()
	calls, err := loops.ReadCalls(callFile)
	g.Expect(err).NotTo(HaveOccurred())
	sampleFile, err := os.Open(filepath.Clean(b.File("loops.jsonl")))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = sampleFile.Close() }()
	samples, err := loops.ReadSamples(sampleFile)
	g.Expect(err).NotTo(HaveOccurred())
	return calls, samples
}

// expectNothingRanTwice asks both witnesses: the sampler and the cloud.
func expectNothingRanTwice(t *testing.T, b *bed.Bed) {
	t.Helper()
	g := NewWithT(t)
	calls, samples := records(t, b)
	g.Expect(samples).NotTo(BeEmpty())
	g.Expect(loops.Overlaps(samples)).To(BeEmpty(), "loops that ran in two managers, as the sampler saw them")
	g.Expect(loops.CallOverlaps(calls)).To(BeEmpty(), "loops that ran in two managers, as the cloud saw them")
}

// expectStopped ends a testbed and looks for what is left of it.
func expectStopped(t *testing.T, b *bed.Bed, stop func()) {
	t.Helper()
	below := descendants(os.Getpid())
	t.Logf("%d processes run", len(below))
	stop()
	NewWithT(t).Expect(b.Err()).NotTo(HaveOccurred(), "a part of the testbed failed")
	expectNoneAlive(t, below)
	expectEmptyRegistry(t, b.Options().Dir)
}
