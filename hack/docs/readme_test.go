package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRangesOfMinors(t *testing.T) {
	for name, test := range map[string]struct {
		minors []int
		want   string
	}{
		"none":          {nil, "-"},
		"one":           {[]int{30}, "1.30"},
		"some in a row": {[]int{24, 25, 26}, "1.24 to 1.26"},
		"with a gap":    {[]int{24, 25, 27, 29, 30}, "1.24 to 1.25, 1.27, 1.29 to 1.30"},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(ranges(test.minors)).To(Equal(test.want)) })
	}
}
