package terminal

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
)

func TestFramesInAFileComeWhenSomethingChanged(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	f := &Frames{Out: out, Redraw: true}
	for _, text := range []string{"alpha  Roll  12m\n", "alpha  Roll  13m\n", "alpha  Verify  1s\n"} {
		g.Expect(f.Show(Screen{Width: FileWidth}, text)).To(Succeed())
	}
	f.End()
	g.Expect(out.String()).To(Equal("alpha  Roll  12m\n\nalpha  Verify  1s\n"))
}

func TestFramesOnATerminalStayInOnePlace(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	f := &Frames{Out: out, Redraw: true}
	s := Screen{Width: 80, Height: 4}
	g.Expect(f.Show(s, "a\nb\n")).To(Succeed())
	g.Expect(out.String()).To(Equal(hideCursor + clearScreen + cursorHome + "a" + clearLine + "\nb" + clearLine + "\n" + clearBelow))
	out.Reset()
	g.Expect(f.Show(s, "a\nb\nc\nd\n")).To(Succeed())
	g.Expect(out.String()).To(Equal(cursorHome + "a" + clearLine + "\nb" + clearLine + "\n… 2 more lines" + clearLine + "\n" +
		clearBelow))
	out.Reset()
	f.End()
	g.Expect(out.String()).To(Equal(showCursor))
}

func TestDocumentsAreNeverDrawnOver(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	f := &Frames{Out: out}
	g.Expect(f.Show(Screen{Width: 80, Height: 4}, "{}\n")).To(Succeed())
	g.Expect(out.String()).To(Equal("{}\n"))
}

func TestYAMLIsAStreamOfDocuments(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	f := &Frames{Out: out, YAML: true}
	for _, text := range []string{"a: 1\n", "a: 2\n"} {
		g.Expect(f.Show(Screen{Width: 80}, text)).To(Succeed())
	}
	g.Expect(out.String()).To(Equal("a: 1\n---\na: 2\n"))
}
