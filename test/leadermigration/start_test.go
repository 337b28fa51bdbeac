package leadermigration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

// TestNodeIPAMBeginsTenSecondsAfterItsKCMLeads keeps true why the demo gives this loop ten seconds more: a KCM that finds its
// Lease free, in a cluster that no one migrates, has it only then.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/controller/nodeipam/ipam/cidr_allocator.go#L139
func TestNodeIPAMBeginsTenSecondsAfterItsKCMLeads(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	p := newPair(t, "start")
	alone := p.start(kcm)
	alone.expectLeading()
	lease, err := suite.client.CoordinationV1().Leases(metav1.NamespaceSystem).Get(
		t.Context(), alone.mainLock(), metav1.GetOptions{},
	)
	g.Expect(err).NotTo(HaveOccurred())

	var begun time.Time
	g.Eventually(func() time.Time {
		for _, sample := range p.seen() {
			if sample.Running && leadermigration.Loop(sample.Loop) == leadermigration.NodeIPAMLoop {
				begun = sample.Time
				break
			}
		}
		return begun
	}).WithTimeout(patience).WithPolling(interval).ShouldNot(BeZero())
	took := begun.Sub(lease.Spec.AcquireTime.Time)
	t.Logf("nodeipam runs %s after its KCM leads", took.Round(100*time.Millisecond))
	g.Expect(took).To(BeNumerically(">=", 10*time.Second))
}
