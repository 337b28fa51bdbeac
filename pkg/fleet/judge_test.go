package fleet_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// The deadline is of a Cluster that could go on.
func TestDeadlines(t *testing.T) {
	late := admitted(member("a", "canary"), ago(5*time.Hour))
	for name, test := range map[string]struct {
		change func(*fleet.Member)
		reason string
	}{
		"it is over":                        {func(*fleet.Member) {}, ucv1.ProgressDeadlineExceededReason},
		"it is over and no one can look":    {func(m *fleet.Member) { m.Unreachable = ucv1.UnauthorizedReason }, ucv1.UnauthorizedReason},
		"a person paused the Cluster":       {func(m *fleet.Member) { m.Paused = true }, ""},
		"it was paused for long":            {func(m *fleet.Member) { m.PausedFor = 2 * time.Hour }, ""},
		"a window or a halt holds its roll": {func(m *fleet.Member) { m.Admission.Directive = ucv1.DirectiveHoldRoll }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := late
			m.Admission = late.Admission.DeepCopy()
			test.change(&m)
			NewWithT(t).Expect(decide(openFleet(), m).Members[0].Failed.Reason).To(Equal(test.reason))
		})
	}
}
