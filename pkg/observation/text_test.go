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

func TestSeveralTextsAreOneMessage(t *testing.T) {
	g := NewWithT(t)
	of := func(pod string) Text {
		return Say(Ref{Kind: "Pod", Name: pod}, " may run loops; waiting for ", Ref{Kind: "Node", Name: "n"}, ". Look at it.")
	}
	one, two := Say("It is rolling out."), of("a")
	g.Expect(one.Also("no one leads")).To(Equal(Say("It is rolling out; no one leads.")))
	g.Expect(one.Also("")).To(Equal(one), "nothing is added")
	g.Expect(Clauses(nil).Words).To(BeEmpty())
	g.Expect(Clauses([]Text{one, two}).Words).To(Equal("It is rolling out; Pod a may run loops; waiting for Node n. Look at it."))
	g.Expect(FirstOf(nil, "pod", "pods").Words).To(BeEmpty())
	g.Expect(FirstOf([]Text{two}, "pod", "pods")).To(Equal(two))
	several := FirstOf([]Text{two, of("b"), of("c")}, "pod", "pods")
	g.Expect(several.Words).To(Equal("Pod a may run loops; waiting for Node n. Look at it; 2 more pods: Pod b, Pod c."))
	g.Expect(RefNames(several.Objects)).To(Equal([]string{"Pod a", "Node n", "Pod b", "Pod c"}))
	g.Expect(FirstOf([]Text{one, one}, "part", "parts").Words).To(Equal("It is rolling out; 1 more part."))
}
