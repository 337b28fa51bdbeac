package observation

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestATextHasTheObjectsThatItNames(t *testing.T) {
	g := NewWithT(t)
	machine := Machine{Ref: Ref{Kind: "Machine", Namespace: "kube-system", Name: "m", UID: "1"}}
	text := Say("These do not go: ", Names([]Text{Say(machine, " of ", Node{Name: "n"}), Say(machine, " again")}), ", ", 2, ".")
	g.Expect(text.String()).To(Equal("These do not go: Machine kube-system/m again, Machine kube-system/m of Node n, 2."))
	g.Expect(text.Objects).To(Equal([]Ref{machine.Ref, NodeRef("n")}), "each once, in the order of the words")
	g.Expect(text.Names(NodeRef("n"))).To(BeTrue())
	g.Expect(text.Without(".").Words).To(HaveSuffix("2"))
}

func TestManyNamesAreCounted(t *testing.T) {
	g := NewWithT(t)
	names := Names([]Ref{NodeRef("c"), NodeRef("a"), NodeRef("b"), NodeRef("e"), NodeRef("d"), NodeRef("f"), NodeRef("a")})
	g.Expect(names.Words).To(Equal("Node a, Node b, Node c, Node d, Node e and 1 more"))
	g.Expect(names.Objects).To(HaveLen(5))
}

func TestWhatPersonsWriteIsRead(t *testing.T) {
	g := NewWithT(t)
	for _, ref := range []Ref{NodeRef("n"), {Kind: "Service", Namespace: "web", Name: "front"}} {
		read, named := ParseRef(ref.String())
		g.Expect(read).To(Equal(ref))
		g.Expect(named).To(BeTrue())
		g.Expect(RefsOf(NamesOf([]Ref{ref}))).To(Equal([]Ref{ref}))
	}
	_, named := ParseRef("front")
	g.Expect(named).To(BeFalse())
}

func TestAStatusIsNotRefusedForAName(t *testing.T) {
	g := NewWithT(t)
	g.Expect(NamesOf(slices.Repeat([]Ref{NodeRef("n")}, 11))).To(HaveLen(10))
	long := Ref{Kind: "Lease", Namespace: strings.Repeat("x", 64), Name: "kube-controller-manager"}
	g.Expect(NamesOf([]Ref{NodeRef(""), long, NodeRef("n")})).To(HaveExactElements(HaveField("Name", "n")))
}
