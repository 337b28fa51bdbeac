package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
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
			g.Expect(write(out, format, hostile, func(w io.Writer) error { _, err := io.WriteString(w, hostile+"\n"); return err })).To(Succeed())
			g.Expect(out.String()).To(Equal(want))
		})
	}
	g, out := NewWithT(t), &bytes.Buffer{}
	g.Expect(write(out, "json", hostile, nil)).To(Succeed())
	var back string
	g.Expect(json.Unmarshal(out.Bytes(), &back)).To(Succeed())
	g.Expect(back).To(Equal(hostile), "JSON says it all the same")

	out.Reset()
	g.Expect(write(out, "yaml", hostile, nil)).To(Succeed())
	g.Expect(yaml.Unmarshal(out.Bytes(), &back)).To(Succeed())
	for _, r := range out.String() {
		g.Expect(shows(r)).To(BeTrue(), "%q", r)
	}
}

func TestErrorsAreNeutral(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	n, err := printer{out}.Write([]byte(hostile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n).To(Equal(len(hostile)))
	g.Expect(out.String()).To(Equal("a]0;titleb[31mcdefgh"))
	g.Expect(Command().ErrOrStderr()).To(BeAssignableToTypeOf(printer{}))
}

func TestColoursOfOursStay(t *testing.T) {
	NewWithT(t).Expect(printable("\x1b[1;31mred\x1b[0m \x1b[5mblinks")).To(Equal("\x1b[1;31mred\x1b[0m [5mblinks"))
}

func TestCommandsQuoteEveryValueForAShell(t *testing.T) {
	values := map[string]string{"PROVIDER": "x; touch PWNED #", "NAME": "it's $(id)", "NAMESPACE": "kube-system"}
	for command, want := range map[string]string{
		"kubectl -n NAMESPACE logs -l app=PROVIDER-ccm": `kubectl -n kube-system logs -l app='x; touch PWNED #'-ccm`,
		`kubectl get uc NAME`:                           `kubectl get uc 'it'\''s $(id)'`,
		`kubectl patch uc x -p '{"a":"NAME"}'`:          `kubectl patch uc x -p '{"a":"it'\''s $(id)"}'`,
		`echo "NAME"`:                                   `echo "it's \$(id)"`,
	} {
		got, named := fillCommand(command, values, runbooks.Block{})
		NewWithT(t).Expect(got).To(Equal(want))
		NewWithT(t).Expect(named).To(BeTrue())
	}
}
