package gcfg_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/gcfg"
)

func TestValuesAreReadAsTheInTreeProvidersReadThem(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"a comment ends it":                      {"a = b ; c", "b"},
		"a comment in quotes does not":           {`a = "b # c" # d`, "b # c"},
		"quotes begin anywhere":                  {`a = b" c "d`, "b c d"},
		"blanks at its end count in quotes only": {"a = b\t\" \"\t", "b\t "},
		"escapes in quotes":                      {`a = "\"\\\n\t"`, "\"\\\n\t"},
		"a quote outside of quotes":              {`a = b\"c`, `b"c`},
		"a line that goes on":                    {"a = b\\\r\n c", "b c"},
		"nothing":                                {"a =", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			entries, problem := gcfg.Read("[Section]\n" + test.line)
			g.Expect(problem).To(BeEmpty())
			g.Expect(entries[1]).To(Equal(gcfg.Entry{Line: 2, Section: "section", Key: "a", Value: test.want}))
		})
	}
}

func TestWhatTheInTreeProvidersRefuseIsRefused(t *testing.T) {
	tests := map[string]string{
		"a backslash outside of quotes": "[a]\nb=c\\d",
		"an escape that is none":        "[a]\nb=\"\\r\"",
		"a quote that does not end":     "[a]\nb=\"c\n\"",
		"a section that is a number":    "[1]\n",
		"an escape in a section's name": "[a \"\\n\"]\n",
		"more behind a section":         "[a] b=c\n",
		"a key before any section":      "a=b\n",
		"two words":                     "[a]\nb c\n",
		"a character that is none":      "[a]\nb=\x00",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			_, problem := gcfg.Read(text)
			NewWithT(t).Expect(problem).NotTo(BeEmpty())
		})
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for _, value := range []string{"", " a ", "\"\\\n\t;#", "é"} {
		g := NewWithT(t)
		entries, problem := gcfg.Read(gcfg.Header("a", "B \"\\\tc") + gcfg.Line("d", value))
		g.Expect(problem).To(BeEmpty())
		g.Expect(entries).To(Equal([]gcfg.Entry{
			{Line: 1, Section: "a", Subsection: "B \"\\\tc"}, {Line: 2, Section: "a", Subsection: "B \"\\\tc", Key: "d", Value: value},
		}))
	}
}
