package fleetmigration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// A fleet whose Clusters were not looked at yet has no end in sight for a moment only.
func TestAForecastWithoutAnEndIsMadeAgainSoon(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }), candidate("a", claimed("Queued")))
	settle := func() {
		for range 5 {
			w.clock.Step(time.Second)
			w.pass()
		}
	}
	settle()
	w.g.Expect(w.fm().Status.Forecast).To(BeNil(), "a FleetMigration that holds never ends")
	fm := w.fm()
	fm.Spec.Mode = ucv1.FleetRun
	w.g.Expect(w.client.Update(t.Context(), fm)).To(Succeed())
	settle()
	w.clock.Step(time.Minute)
	settle()
	w.g.Expect(w.fm().Status.Forecast).NotTo(BeNil())
}
