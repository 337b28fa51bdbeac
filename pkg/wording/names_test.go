package wording

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestNamesAreSortedAndBounded(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Names([]string{"g", "b", "a", "c", "d", "e", "a"})).To(Equal("a, b, c, d, e and 1 more"))
	g.Expect(Names([]string{"b", "a"})).To(Equal("a, b"))
}

func TestNumbersHaveTheirNoun(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Count(1, "Machine", "Machines")).To(Equal("1 Machine"))
	g.Expect(Count(0, "Machine", "Machines")).To(Equal("0 Machines"))
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Bounded("short", 5)).To(Equal("short"))
	g.Expect(Bounded("too long", 5)).To(Equal("to..."))
	g.Expect(Bounded("añejo", 5)).To(Equal("a..."))
}
