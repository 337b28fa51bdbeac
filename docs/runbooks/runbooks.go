package runbooks

import (
	"embed"
	"regexp"
	"slices"
	"strings"
)

// files are the runbooks.
//
//go:embed *.md
var files embed.FS

// Folder is where the runbooks are in the repository.
const Folder = "docs/runbooks/"

// The sections of a runbook, in their order.
const (
	Symptoms = "Symptoms"
	Meaning  = "Meaning"
	Checks   = "Checks"
	Remedy   = "Remedy"
)

// Runbook is one of them.
type Runbook struct {
	// Reason it is about.
	Reason string
	// Text of the whole file.
	Text string
}

// Block is a block of shell commands.
type Block struct {
	// Where the commands run, such as "user cluster".
	Where string
	// Only says when they may be run, for those that do harm at any other time: a person fills in the names.
	Only string
	// Commands, one a line.
	Commands []string
}

// Reasons are those that have a runbook, sorted.
func Reasons() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var reasons []string
	for _, entry := range entries {
		reasons = append(reasons, strings.TrimSuffix(entry.Name(), ".md"))
	}
	return slices.Sorted(slices.Values(reasons))
}

// Lookup finds the runbook of a reason.
func Lookup(reason string) (Runbook, bool) {
	text, err := files.ReadFile(reason + ".md")
	if err != nil {
		return Runbook{}, false
	}
	return Runbook{Reason: reason, Text: string(text)}, true
}

// Path of its file in the repository.
func (r Runbook) Path() string { return Folder + r.Reason + ".md" }

// Section is the text of a section, without its heading.
func (r Runbook) Section(name string) string {
	_, rest, _ := strings.Cut(r.Text, "\n## "+name+"\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(section)
}

// Paragraph is the first paragraph of a section on one line, without the marks of Markdown; empty when it is no prose.
func (r Runbook) Paragraph(name string) string {
	first, _, _ := strings.Cut(r.Section(name), "\n\n")
	if strings.HasPrefix(first, "```") || strings.HasPrefix(first, "|") {
		return ""
	}
	first = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(first, "$1")
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "**", "").Replace(first)), " ")
}

// Blocks are the blocks of shell commands of a section.
func (r Runbook) Blocks(name string) []Block {
	var blocks []Block
	for i, part := range strings.Split("\n"+r.Section(name), "\n```") {
		body, isShell := strings.CutPrefix(part, "sh\n")
		if i%2 == 0 || !isShell {
			continue
		}
		lines := strings.Split(body, "\n")
		where, only, _ := strings.Cut(strings.TrimPrefix(lines[0], "# "), ", ")
		blocks = append(blocks, Block{Where: where, Only: only, Commands: lines[1:]})
	}
	return blocks
}
