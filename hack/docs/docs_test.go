package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRowsNeedTheHousesComments(t *testing.T) {
	for name, tc := range map[string]struct {
		constant constant
		links    map[string]bool
		rows     []string
		problem  string
	}{
		"a reason": {
			constant: constant{"LateReason", "Late", "LateReason surfaces when it is late."},
			rows:     []string{"| `Late` | when it is late. |\n"},
		},
		"a reason with an aside": {
			constant: constant{"LateReason", "Late", "LateReason surfaces, at night, when it is late."},
			rows:     []string{"| `Late` | at night, when it is late. |\n"},
		},
		"a reason with a runbook": {
			constant: constant{"LateReason", "Late", "LateReason surfaces when it is late."}, links: map[string]bool{"Late": true},
			rows: []string{"| [`Late`](runbooks/Late.md) | when it is late. |\n"},
		},
		"a condition is no reason":   {constant: constant{"LateCondition", "Late", "LateCondition is True."}},
		"a comment of another form":  {constant: constant{"LateReason", "Late", "It is late."}, problem: "LateReason"},
		"a comment that ends a cell": {constant: constant{"LateReason", "Late", "LateReason surfaces | never."}, problem: "LateReason"},
		"a constant without comment": {constant: constant{"LateReason", "Late", ""}, problem: "LateReason"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := rows([]constant{tc.constant}, reasonSuffix, "surfaces", tc.links)
			if tc.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.rows))
		})
	}
}
