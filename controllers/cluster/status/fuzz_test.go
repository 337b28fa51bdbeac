package status

import (
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

// FuzzNeutralText: no text obeys anybody, or grows, and what was made neutral stays as it is.
func FuzzNeutralText(f *testing.F) {
	for _, seed := range []string{"ready", "\x1b[2J\x7f\u0085\u202e\ufeff\ufffe", "\xff\xc3", "a\tb\nc\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := NewWithT(t)
		made := neutralText(text)
		g.Expect(utf8.ValidString(made)).To(BeTrue())
		g.Expect(len(made)).To(BeNumerically("<=", len(text)))
		g.Expect(neutralText(made)).To(Equal(made))
		for _, r := range made {
			g.Expect(r == '\n' || r == '\t' || unicode.IsGraphic(r)).To(BeTrue(), "%U", r)
		}
	})
}
