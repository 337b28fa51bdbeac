package slo

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// FuzzHistograms: a CCM may say what it likes. No count is negative, and no part is more than the whole.
func FuzzHistograms(f *testing.F) {
	const name = "node_controller_initial_node_sync_delay_seconds"
	f.Add(
		name+"_bucket{le=\"32\"} 3\n"+name+"_bucket{le=\"64\"} 4\n"+name+"_bucket{le=\"+Inf\"} 5\n"+name+"_count 5\n",
		name+"_count 1\n",
	)
	f.Add(name+"_bucket{le=\"NaN\"} 1e300\n"+name+"_count -7\n", "# HELP x\n"+name+"_count NaN\n")
	f.Add(
		name+"_bucket{le=\"-1\"} 2\n"+name+"_bucket{le=\"64\"} 18446744073709551615\n"+name+"_count 18446744073709551615\n",
		name+" 1",
	)
	f.Fuzz(func(t *testing.T, text, earlier string) {
		g := NewWithT(t)
		found, err := ParseHistograms(strings.NewReader(text))
		if err != nil {
			return
		}
		before, _ := ParseHistograms(strings.NewReader(earlier))
		for indicator, histogram := range found {
			for _, counts := range []Counts{histogram.Counts(), histogram.Since(before[indicator]).Counts()} {
				g.Expect([]int{counts.Within, counts.Missed, counts.Unsure}).To(HaveEach(BeNumerically(">=", 0)))
				sum := uint64(counts.Within) + uint64(counts.Missed) + uint64(counts.Unsure)
				g.Expect(sum).To(BeNumerically("<=", histogram.Count))
				g.Expect(counts.Add(counts).Judge(20)).NotTo(BeEmpty())
			}
		}
	})
}
