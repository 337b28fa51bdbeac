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

func TestASentenceBeginsWithACapital(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Capital("no one holds it")).To(Equal("No one holds it"))
	g.Expect(Capital("übrig")).To(Equal("Übrig"))
	g.Expect(Capital("1.30 is the last")).To(Equal("1.30 is the last"))
	g.Expect(Capital("")).To(BeEmpty())
}
