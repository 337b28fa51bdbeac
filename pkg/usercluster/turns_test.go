package usercluster

import (
	"context"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

func TestLargeAnswersOfAClusterAreReadOneByOne(t *testing.T) {
	g := NewWithT(t)
	b := &bounded{large: make(reads.Turns, 1)}
	large := func(ctx context.Context) (*answer, error) {
		return b.read(ctx, strings.NewReader(strings.Repeat(" ", smallAnswer+1)), maxAnswer)
	}
	first, err := large(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = large(done)
	g.Expect(err).To(MatchError(context.Canceled), "it would have to wait for the first one")
	_, err = b.read(done, strings.NewReader("{}"), maxAnswer)
	g.Expect(err).NotTo(HaveOccurred(), "a small one has no turn to wait for")
	g.Expect(first.Close()).To(Succeed())
	second, err := large(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.Close()).To(Succeed())
}
