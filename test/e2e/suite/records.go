package suite

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// Names of what is looked for in records and API servers.
const (
	KCM              = "kube-controller-manager"
	CCM              = "cloud-controller-manager"
	ManagerNamespace = "ccm-migration-system"
	ManagerName      = "ccm-migration-controller-manager"
)

// Records are the raw records of a testbed so far.
func Records(s *Scene, b *bed.Bed) ([]simcloud.Call, []loops.Sample) {
	GinkgoHelper()
	return read(s, b.File("simcloud.jsonl"), loops.ReadCalls), read(s, b.File("loops.jsonl"), loops.ReadSamples)
}

func read[T any](s *Scene, path string, parse func(io.Reader) ([]T, error)) []T {
	GinkgoHelper()
	file, err := os.Open(filepath.Clean(path))
	s.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = file.Close() }()
	records, err := parse(file)
	s.Expect(err).NotTo(HaveOccurred())
	return records
}

// ExpectNothingRanTwice asks both witnesses about user clusters: the sampler and the cloud.
func ExpectNothingRanTwice(s *Scene, b *bed.Bed, names ...string) {
	GinkgoHelper()
	calls, samples := Records(s, b)
	calls = slices.DeleteFunc(calls, func(call simcloud.Call) bool { return !slices.Contains(names, call.Cluster) })
	samples = slices.DeleteFunc(samples, func(sample loops.Sample) bool { return !slices.Contains(names, sample.Cluster) })
	s.Expect(samples).NotTo(BeEmpty())
	s.Expect(loops.Overlaps(samples)).To(BeEmpty(), "loops that ran in two managers, as the sampler saw them")
	s.Expect(loops.CallOverlaps(calls)).To(BeEmpty(), "loops that ran in two managers, as the cloud saw them")
}

// ReadFile returns what there is; nothing when there is no file yet.
func ReadFile(path string) []byte {
	content, _ := os.ReadFile(filepath.Clean(path))
	return content
}

// ExpectNothingForbidden reads the logs of all the manager's processes: a rule that is missing in config/ shows there.
// The API server also forbids everyone to create something in a namespace that is being removed, as those of stories are.
func ExpectNothingForbidden(s *Scene, b *bed.Bed) {
	GinkgoHelper()
	logs, err := filepath.Glob(b.File("logs", bed.ManagementName, ManagerNamespace+"_"+ManagerName+"-*.log"))
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(logs).NotTo(BeEmpty())
	forbidden := regexp.MustCompile(`(?i).*(forbidden|cannot (get|list|watch|create|update|patch|delete) resource).*`)
	for _, log := range logs {
		content := ReadFile(log)
		s.Expect(content).NotTo(BeEmpty())
		found := slices.DeleteFunc(forbidden.FindAllString(string(content), -1), func(line string) bool {
			return strings.Contains(line, "because it is being terminated")
		})
		s.Expect(found).To(BeEmpty(), "in %s", log)
	}
}

// ProcessesOf are the entries of a cluster's registry whose pods' names begin so.
func (h *Testbed) ProcessesOf(s *Scene, cluster, pod string) []string {
	GinkgoHelper()
	entries, err := filepath.Glob(h.File("processes", cluster, pod+"*.json"))
	s.Expect(err).NotTo(HaveOccurred())
	return entries
}

// LoopsOfCCM are the loops that the sampler ever saw in the cluster's CCM.
func (h *Testbed) LoopsOfCCM(s *Scene, u *bed.UserCluster) map[string]bool {
	GinkgoHelper()
	_, samples := Records(s, h.Bed)
	running := map[string]bool{}
	for _, sample := range loops.OfCluster(samples, u.Options.Name) {
		if sample.Component == CCM && sample.Running {
			running[sample.Loop] = true
		}
	}
	return running
}

// ExpectLeadingCCM waits until it runs all loops.
func (h *Testbed) ExpectLeadingCCM(ctx context.Context, s *Scene, u *bed.UserCluster) {
	GinkgoHelper()
	s.Eventually(func() map[string]bool { return h.LoopsOfCCM(s, u) }).
		WithContext(ctx).WithTimeout(Patience).WithPolling(PollTime).
		Should(And(HaveKey("service"), HaveKey("route"), HaveKey("cloud-node-lifecycle")))
	for _, process := range Cluster(ctx, s, u).Status.Handover.Processes {
		s.Logf("%s: %s", process.PodName, process.EndedBecause)
	}
	_, samples := Records(s, h.Bed)
	gaps := loops.Gaps(loops.OfCluster(samples, u.Options.Name), time.Time{}, time.Time{})
	for _, loop := range loops.CloudLoops() {
		s.Logf("gap of %s: %.1f s", loop, gaps[loop].Seconds())
	}
}
