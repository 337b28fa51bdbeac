package clusterapi

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
)

var _ machines.API = Adapter{}

func TestClusterAPIIsNotBuiltYetAndSaysSo(t *testing.T) {
	g, adapter := NewWithT(t), Adapter{}
	g.Expect(adapter.Observe(t.Context()).Why()).To(ContainSubstring("no adapter"))
	g.Expect(adapter.Pools(t.Context()).IsUnknown()).To(BeTrue(), "what could not be looked at lets no row pass")
	g.Expect(adapter.Bootstraps(t.Context(), nil).IsUnknown()).To(BeTrue())
	_, err := adapter.CreateCanary(t.Context(), observation.Ref{})
	g.Expect(err).To(MatchError(ContainSubstring("no adapter")))
	g.Expect(adapter.Change(t.Context(), outcome.Action{})).To(MatchError(err))
}
