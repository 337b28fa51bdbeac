package rollout

import (
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// FuzzAllowed: a budget is closed unless it says something above nothing.
func FuzzAllowed(f *testing.F) {
	for _, seed := range []string{"25%", "0%", "00%", "-0%", "-5%", "100%", "1", "%", "999999999999999999%", "1%%"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, text string, total int) {
		if total < 0 || total > 1<<20 {
			return
		}
		g, value := NewWithT(t), intstr.Parse(text)
		allowed, err := Allowed(&value, total)
		g.Expect(allowed).To(BeNumerically(">=", 0))
		if percent, parseErr := strconv.Atoi(strings.TrimSuffix(text, "%")); err != nil || parseErr == nil && percent <= 0 {
			g.Expect(allowed).To(BeZero(), text)
		}
	})
}
