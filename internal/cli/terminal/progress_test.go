package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestProgressStaysInOneLineOfATerminal(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	p := &Progress{out: out, screen: Screen{Width: 40}, steps: 2, stop: func() {}}
	p.draw(time.Now())
	g.Expect(out.String()).To(BeEmpty(), "nothing has begun")
	p.Step("Reading")
	g.Expect(out.String()).To(Equal("\r···· Reading…\x1b[K"))
	out.Reset()
	p.draw(p.began.Add(3 * time.Second))
	g.Expect(out.String()).To(Equal("\r···· Reading… 3s\x1b[K"))
	out.Reset()
	p.Step("Comparing many objects with what is there now")
	g.Expect(out.String()).To(Equal("\r██·· Comparing many objects with what …\x1b[K"), "a second line would stay")
	out.Reset()
	p.End()
	g.Expect(out.String()).To(Equal("\r\x1b[K"))
}

func TestProgressIsNotInAFile(t *testing.T) {
	g := NewWithT(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "err"))
	g.Expect(err).NotTo(HaveOccurred())
	p := NewProgress(file, os.Getenv, 1)
	p.Step("Reading")
	p.End()
	content, err := os.ReadFile(file.Name())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content).To(BeEmpty())
	g.Expect(file.Close()).To(Succeed())
}
