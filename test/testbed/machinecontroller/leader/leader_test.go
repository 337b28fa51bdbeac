package leader

import (
	"flag"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// The times of the Lease are the usual ones, which no flag changes: 15 seconds, renewed within 10, tried every 2.
func TestTheLeaseStaysHeldAtTheEnd(t *testing.T) {
	g := NewWithT(t)
	flags := flag.NewFlagSet("machine-controller", flag.ContinueOnError)
	o := Flags(flags, "machine-controller", ":0")
	g.Expect(flags.Parse([]string{"-leader-election-namespace=elsewhere"})).To(Succeed())
	types, err := Scheme()
	g.Expect(err).NotTo(HaveOccurred())
	options := o.managerOptions(types)
	g.Expect(options.LeaderElection).To(BeTrue())
	g.Expect(options.LeaderElectionReleaseOnCancel).To(BeFalse())
	g.Expect(options.LeaseDuration).To(BeNil())
	g.Expect(options.RenewDeadline).To(BeNil())
	g.Expect(options.RetryPeriod).To(BeNil())
	g.Expect(options.LeaderElectionNamespace).To(Equal("elsewhere"))
	g.Expect(*options.Cache.SyncPeriod).To(Equal(5 * time.Minute))
}
