package main

import (
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
)

func namesOfMutants(some []mutant) []string {
	names := make([]string, len(some))
	for i, m := range some {
		names[i] = m.name
	}
	return names
}

func TestTheSameSeedDrawsTheSameMutants(t *testing.T) {
	g := NewWithT(t)
	first, err := choice{fraction: 10, seed: "a5289f6"}.of(mutants())
	g.Expect(err).NotTo(HaveOccurred())
	again, err := choice{fraction: 10, seed: "a5289f6"}.of(mutants())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namesOfMutants(again)).To(Equal(namesOfMutants(first)))
	g.Expect(len(first)).To(BeNumerically("~", len(mutants())/10, len(mutants())/20))
	other, err := choice{fraction: 10, seed: "04d29ae"}.of(mutants())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namesOfMutants(other)).NotTo(Equal(namesOfMutants(first)))
}

func TestOtherMutantsDoNotChangeWhetherOneIsDrawn(t *testing.T) {
	g := NewWithT(t)
	drawing := choice{fraction: 3, seed: "s"}
	all := mutants()
	whole, err := drawing.of(all)
	g.Expect(err).NotTo(HaveOccurred())
	half, err := drawing.of(all[len(all)/2:])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namesOfMutants(whole)).To(ContainElements(namesOfMutants(half)))
}

func TestOverManySeedsAllAreDrawn(t *testing.T) {
	g := NewWithT(t)
	drawn := map[string]bool{}
	for seed := range 200 {
		some, err := choice{fraction: 10, seed: strconv.Itoa(seed)}.of(mutants())
		g.Expect(err).NotTo(HaveOccurred())
		for _, m := range some {
			drawn[m.name] = true
		}
	}
	g.Expect(drawn).To(HaveLen(len(mutants())))
}

func TestAChoiceByName(t *testing.T) {
	g := NewWithT(t)
	all := []mutant{{rule: "1 ends", name: "a"}, {rule: "2 proof", name: "b"}}
	some, err := choice{run: "ends a", fraction: 1}.of(all)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(namesOfMutants(some)).To(Equal([]string{"a"}))
	_, err = choice{run: "c", fraction: 1}.of(all)
	g.Expect(err).To(MatchError(`no mutant contains "c"`))
	_, err = choice{fraction: 0}.of(all)
	g.Expect(err).To(MatchError(ContainSubstring("-fraction 0")))
	g.Expect(choice{fraction: 1}.drawn()).To(BeEmpty())
	g.Expect(choice{fraction: 10, seed: "s"}.drawn()).To(Equal(`, one in 10, drawn by seed "s"`))
}
