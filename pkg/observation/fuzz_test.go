package observation

import (
	"testing"

	. "github.com/onsi/gomega"
)

// FuzzVersion: a version that cannot be read has no minor, and no version has one below that.
func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"1.30.14", "v1.25.3-gke.100", "1.-5.0", "1.+5.0", "1", "", "v1.99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := NewWithT(t)
		minor := MinorOf(text)
		g.Expect(minor).To(BeNumerically(">=", 0))
		g.Expect(MinorOf("v" + text)).To(Or(Equal(minor), BeZero()))
	})
}
