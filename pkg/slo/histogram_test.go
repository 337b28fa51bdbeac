package slo

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const exposed = `# HELP node_controller_initial_node_sync_delay_seconds [ALPHA] Number of seconds after node creation
# TYPE node_controller_initial_node_sync_delay_seconds histogram
node_controller_initial_node_sync_delay_seconds_bucket{le="1"} 0
node_controller_initial_node_sync_delay_seconds_bucket{le="4"} 20
node_controller_initial_node_sync_delay_seconds_bucket{le="16"} 40
node_controller_initial_node_sync_delay_seconds_bucket{le="64"} 45
node_controller_initial_node_sync_delay_seconds_bucket{le="256"} 47
node_controller_initial_node_sync_delay_seconds_bucket{le="+Inf"} 48
node_controller_initial_node_sync_delay_seconds_sum 1234.5
node_controller_initial_node_sync_delay_seconds_count 48
process_start_time_seconds 1.7e+09
`

func TestHistogramsOfTheCCM(t *testing.T) {
	g := NewWithT(t)
	found, err := ParseHistograms(strings.NewReader(exposed))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(HaveLen(1), "what is not there is left out")
	histogram := found[InitialSync]
	g.Expect(histogram.Counts()).To(Equal(Counts{Within: 40, Missed: 3, Unsure: 5}))
	g.Expect(histogram.Since(histogram).Counts()).To(Equal(Counts{}))
	g.Expect(histogram.Since(Histogram{UpTo: map[float64]uint64{16: 30, 64: 35}, Count: 36}).Counts()).To(
		Equal(Counts{Within: 10, Missed: 2}),
	)
	g.Expect(histogram.Since(Histogram{Count: 100}).Counts()).To(Equal(histogram.Counts()), "a process that was started again")
	_, err = ParseHistograms(strings.NewReader("node_controller_initial_node_sync_delay_seconds_count many\n"))
	g.Expect(err).To(HaveOccurred())
}

func TestCorroborate(t *testing.T) {
	for name, test := range map[string]struct {
		own, ccm Counts
		want     Verdict
	}{
		"the CCM speaks where we saw nothing":      {Counts{}, Counts{Within: 20}, Met},
		"the CCM alone accuses no one":             {Counts{}, Counts{Missed: 20}, Inconclusive},
		"no one saw anything":                      {Counts{}, Counts{}, Inconclusive},
		"the CCM may be silent":                    {Counts{Within: 20}, Counts{}, Met},
		"the CCM contradicts":                      {Counts{Within: 20}, Counts{Missed: 20}, Inconclusive},
		"the CCM does not make good what we saw":   {Counts{Missed: 20}, Counts{Within: 500}, Violated},
		"the CCM does not decide what we saw some": {Counts{Within: 3}, Counts{Within: 500}, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Corroborate(test.own, test.ccm, 20)).To(Equal(test.want))
		})
	}
}
