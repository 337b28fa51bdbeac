package cluster

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

func TestAnObserverThatLacksSomethingIsNotMade(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	for name, lacks := range map[string]func(*ObserverOptions){
		"a client":         func(o *ObserverOptions) { o.Client = nil },
		"a live reader":    func(o *ObserverOptions) { o.Live = nil },
		"a control plane":  func(o *ObserverOptions) { o.ControlPlane = nil },
		"its ledger":       func(o *ObserverOptions) { o.ControlPlane = &controlplane.Reader{Live: c} },
		"its catalogue":    func(o *ObserverOptions) { o.Catalogue = nil },
		"nothing is there": func(o *ObserverOptions) { *o = ObserverOptions{} },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			options := ObserverOptions{
				Client: c, Live: c, Catalogue: provider.New(),
				ControlPlane: &controlplane.Reader{Live: c, Ledger: controlplane.NewLedger(clock.RealClock{}), Clock: clock.RealClock{}},
			}
			_, err := NewObserver(options)
			g.Expect(err).NotTo(HaveOccurred())
			lacks(&options)
			_, err = NewObserver(options)
			g.Expect(err).To(MatchError(ContainSubstring("an observer needs")))
		})
	}
}
