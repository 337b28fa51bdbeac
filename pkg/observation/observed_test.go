package observation

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMinorOf(t *testing.T) {
	g := NewWithT(t)
	for version, want := range map[string]int{"1.25.16": 25, "v1.30.14": 30, "1": 0, "1.x.2": 0, "": 0} {
		g.Expect(MinorOf(version)).To(Equal(want), version)
	}
}

func TestObserved(t *testing.T) {
	g := NewWithT(t)
	var zero Observed[int]
	g.Expect(zero.IsUnknown()).To(BeTrue())
	g.Expect(zero.Why()).To(Equal("it was not looked at"))
	g.Expect(Unknown[int]("timeout").Why()).To(Equal("timeout"))
	g.Expect(Absent[int]().IsAbsent()).To(BeTrue())
	g.Expect(Absent[int]().Why()).To(Equal("it does not exist"))
	value, known := Known(3).Get()
	g.Expect([]any{value, known}).To(Equal([]any{3, true}))
	g.Expect(Ref{Kind: "Node", Name: "n"}.String()).To(Equal("Node n"))
}
