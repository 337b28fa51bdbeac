package tutorial

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

const page = "../../docs/tutorial.md"

// block is one to copy: `sh`, or `sh terminal` for a terminal of its own, in which the commands go on until Ctrl-C. What a block
// `text` right behind it has is printed.
type block struct {
	commands string
	terminal bool
	prints   []string
}

func read(t *testing.T, page []byte) (blocks []block) {
	t.Helper()
	g := NewWithT(t)
	for node := goldmark.DefaultParser().Parse(text.NewReader(page)).FirstChild(); node != nil; node = node.NextSibling() {
		fenced, is := node.(*ast.FencedCodeBlock)
		if !is {
			continue
		}
		info, content := string(fenced.Info.Value(page)), string(fenced.Lines().Value(page))
		switch info {
		case "sh", "sh terminal":
			blocks = append(blocks, block{commands: content, terminal: info == "sh terminal"})
		case "text":
			g.Expect(node.PreviousSibling().Kind()).To(Equal(ast.KindFencedCodeBlock), "no commands print this: %s", content)
			blocks[len(blocks)-1].prints = strings.Split(strings.TrimSpace(content), "\n")
		default:
			t.Errorf("nothing runs this block of kind %q: %s", info, content)
		}
	}
	return blocks
}

// missing is the first line that is not printed behind those before it; empty: all are. "..." stands for anything, and a
// table may be wider.
func missing(printed string, lines []string) string {
	rest := strings.Split(printed, "\n")
	for _, line := range lines {
		at := 0
		for at < len(rest) && !matches(rest[at], line) {
			at++
		}
		if at == len(rest) {
			return line
		}
		rest = rest[at+1:]
	}
	return ""
}

func matches(printed, line string) bool {
	printed = strings.Join(strings.Fields(printed), " ")
	parts := strings.Split(strings.Join(strings.Fields(line), " "), "...")
	if len(parts) == 1 {
		return printed == parts[0]
	}
	last := len(parts) - 1
	if !strings.HasPrefix(printed, parts[0]) || !strings.HasSuffix(printed, parts[last]) {
		return false
	}
	for _, part := range parts[:last] {
		_, behind, found := strings.Cut(printed, part)
		if !found {
			return false
		}
		printed = behind
	}
	return strings.HasSuffix(printed, parts[last])
}

func TestEachBlockOfTheTutorialRuns(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile(page)
	g.Expect(err).NotTo(HaveOccurred())
	blocks := read(t, content)
	g.Expect(len(blocks)).To(BeNumerically(">", 10))
	g.Expect(blocks[0].terminal).To(BeTrue(), "the clusters come first")
	compared := 0
	for _, one := range blocks {
		compared += len(one.prints)
	}
	g.Expect(compared).To(BeNumerically(">", 20), "what is printed is compared")
}

func TestWhatIsPrintedIsCompared(t *testing.T) {
	printed := "NAME    STEP\nalpha   Roll\nbeta    Finished, 12 s ago\n"
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"all of it":                 {lines: []string{"NAME STEP", "alpha Roll", "beta Finished, 12 s ago"}},
		"a part of it":              {lines: []string{"alpha  Roll"}},
		"a number that differs":     {lines: []string{"beta Finished, ... ago"}},
		"lines in another order":    {lines: []string{"alpha Roll", "NAME STEP"}, want: "NAME STEP"},
		"a line twice":              {lines: []string{"alpha Roll", "alpha Roll"}, want: "alpha Roll"},
		"a line that goes on":       {lines: []string{"beta Finished"}, want: "beta Finished"},
		"the end of a line":         {lines: []string{"... Roll"}},
		"a line with another end":   {lines: []string{"alpha ... Verify"}, want: "alpha ... Verify"},
		"a line with another start": {lines: []string{"gamma ..."}, want: "gamma ..."},
		"a word in the middle":      {lines: []string{"beta ... 12 ... ago"}},
		"an end that is used twice": {lines: []string{"alpha Roll ... Roll"}, want: "alpha Roll ... Roll"},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(missing(printed, tc.lines)).To(Equal(tc.want)) })
	}
}
