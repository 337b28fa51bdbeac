package terminal

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// hostile is a text of a user cluster: a title, a colour, a line of ours that it forges, a bidirectional mark, DEL and C1.
const hostile = "a\x1b]0;title\x07b\x1b[31mc\rd\u202ee\x7ff\u0085g\u2066h"

func TestWhatAUserClusterSaysIsNeutralInEveryFormat(t *testing.T) {
	for format, want := range map[string]string{
		"text": "a]0;titleb[31mcdefgh\n",
		"json": `"a\u001b]0;title\u0007b\u001b[31mc\rd\u202ee\u007ff\u0085g\u2066h"` + "\n",
	} {
		t.Run(format, func(t *testing.T) {
			g, out := NewWithT(t), &bytes.Buffer{}
			g.Expect(Write(out, format, hostile, func(w io.Writer) error { _, err := io.WriteString(w, hostile+"\n"); return err })).To(
				Succeed(),
			)
			g.Expect(out.String()).To(Equal(want))
		})
	}
	g, out := NewWithT(t), &bytes.Buffer{}
	g.Expect(Write(out, "json", hostile, nil)).To(Succeed())
	var back string
	g.Expect(json.Unmarshal(out.Bytes(), &back)).To(Succeed())
	g.Expect(back).To(Equal(hostile), "JSON says it all the same")

	out.Reset()
	g.Expect(Write(out, "yaml", hostile, nil)).To(Succeed())
	g.Expect(yaml.Unmarshal(out.Bytes(), &back)).To(Succeed())
	for _, r := range out.String() {
		g.Expect(shows(r)).To(BeTrue(), "%q", r)
	}
}

func TestErrorsAreNeutral(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	n, err := Output{Writer: out}.Write([]byte(hostile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n).To(Equal(len(hostile)))
	g.Expect(out.String()).To(Equal("a]0;titleb[31mcdefgh"))
}

func TestColoursOfOursStay(t *testing.T) {
	NewWithT(t).Expect(printable("\x1b[1;31mred\x1b[0m \x1b[5mblinks")).To(Equal("\x1b[1;31mred\x1b[0m [5mblinks"))
}
