package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
)

// pictureWidth is what fits beside each other on a screen.
const pictureWidth = 100

// The headings of what is checked, and the marks around what is generated.
const (
	proofHeading = "The proof of silence"
	linesHeading = "What you see at each line, and what to do"

	marksBegin = "<!-- generated: lines of %s -->\n"
	marksEnd   = "<!-- /generated -->"
)

// handoverDocument writes the tables of lines into the document, which people write, and checks all else in it that names
// something of the code.
func (s *sources) handoverDocument() (string, error) {
	document, err := os.ReadFile(handoverFile)
	if err != nil {
		return "", err
	}
	text := string(document)
	var known []string
	for _, protocol := range migration.Protocols() {
		lines := migration.HandoverLines(protocol)
		if text, err = fillIn(text, protocol, lines); err != nil {
			return "", err
		}
		if err := checkPicture(section(text, string(protocol)), lines); err != nil {
			return "", fmt.Errorf("%s: picture of protocol %s: %w", handoverFile, protocol, err)
		}
		for _, line := range lines {
			known = append(known, line.Name)
		}
	}
	items, err := proofItems(silenceFile)
	if err != nil {
		return "", err
	}
	for heading, names := range map[string][]string{proofHeading: items, linesHeading: known} {
		if err := sameNames(column(section(text, heading), 1), names); err != nil {
			return "", fmt.Errorf("%s: table of %q: %w", handoverFile, heading, err)
		}
	}
	return text, s.checkWords(text)
}

// fillIn replaces what is between the marks of a protocol.
func fillIn(text string, protocol ucv1.HandoverProtocol, lines []migration.LineMeaning) (string, error) {
	mark := fmt.Sprintf(marksBegin, protocol)
	before, rest, found := strings.Cut(text, mark)
	_, after, ended := strings.Cut(rest, marksEnd)
	if !found || !ended {
		return "", fmt.Errorf("%s has no place for the table of protocol %s: %q … %q", handoverFile, protocol, mark, marksEnd)
	}
	var table strings.Builder
	table.WriteString("| # | Line | Holds when |\n|---|---|---|\n")
	for i, line := range lines {
		fmt.Fprintf(&table, "| %d | `%s` | %s |\n", i+1, line.Name, line.Means)
	}
	return before + mark + table.String() + marksEnd + after, nil
}

// section is what stands under a heading, up to the next one.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, "# "+heading+"\n")
	under, _, _ := strings.Cut(rest, "\n#")
	return under
}

// checkPicture compares the numbered lines of the first code block with the table.
func checkPicture(text string, lines []migration.LineMeaning) error {
	_, rest, _ := strings.Cut(text, "```\n")
	picture, _, _ := strings.Cut(rest, "```")
	var drawn, wanted []string
	for _, match := range regexp.MustCompile(`(?m)^ *(\d+) (\w+)`).FindAllStringSubmatch(picture, -1) {
		drawn = append(drawn, match[1]+" "+match[2])
	}
	for i, line := range lines {
		wanted = append(wanted, strconv.Itoa(i+1)+" "+line.Name)
	}
	if !slices.Equal(drawn, wanted) {
		return fmt.Errorf("it has %q, the code %q", drawn, wanted)
	}
	return nil
}

// column has the words in backticks of the n-th cell of every row of the tables.
func column(text string, n int) []string {
	var words []string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "|") && len(cells) > n {
			for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[n], -1) {
				words = append(words, match[1])
			}
		}
	}
	return words
}

func sameNames(written, known []string) error {
	written, known = slices.Compact(slices.Sorted(slices.Values(written))), slices.Compact(slices.Sorted(slices.Values(known)))
	if !slices.Equal(written, known) {
		return fmt.Errorf("it has %q, the code %q", written, known)
	}
	return nil
}

// checkWords looks for the reasons and messages of the table, and for pictures that are too wide.
func (s *sources) checkWords(text string) error {
	table := section(text, linesHeading)
	reasons := map[string]bool{}
	for _, g := range s.groups {
		for _, c := range g.constants {
			reasons[c.value] = strings.HasSuffix(c.identifier, reasonSuffix)
		}
	}
	for _, reason := range column(table, 2) {
		if !reasons[reason] {
			return fmt.Errorf("%s: there is no reason %s", handoverFile, reason)
		}
	}
	said, err := stringsOf(filepath.Dir(silenceFile))
	if err != nil {
		return err
	}
	for _, message := range column(table, 3) {
		for part := range strings.SplitSeq(message, "…") {
			if !strings.Contains(said, strings.TrimSpace(part)) {
				return fmt.Errorf("%s: nothing in %s says %q", handoverFile, filepath.Dir(silenceFile), part)
			}
		}
	}
	return checkWidth(text)
}

// checkWidth looks at blocks without a language: commands are to be copied, not to be looked at.
func checkWidth(text string) error {
	for i, block := range strings.Split(text, "```") {
		if i%2 == 0 || !strings.HasPrefix(block, "\n") {
			continue
		}
		for line := range strings.Lines(block) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > pictureWidth {
				return fmt.Errorf("%s: wider than %d columns: %s", handoverFile, pictureWidth, line)
			}
		}
	}
	return nil
}

// proofItems are the names that function proof gives to the items.
func proofItems(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Name.Name == "proof" {
			ast.Inspect(function, func(node ast.Node) bool {
				names = append(names, itemName(node)...)
				return true
			})
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: function proof names no item", path)
	}
	return names, nil
}

// itemName is X in proofItem("X", …) and in Name: "X".
func itemName(node ast.Node) []string {
	switch node := node.(type) {
	case *ast.CallExpr:
		if called, ok := node.Fun.(*ast.Ident); ok && called.Name == "proofItem" {
			return literals(node.Args[0])
		}
	case *ast.KeyValueExpr:
		if key, ok := node.Key.(*ast.Ident); ok && key.Name == "Name" {
			return literals(node.Value)
		}
	}
	return nil
}

// stringsOf are all string literals of a package, tests aside.
func stringsOf(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", err
	}
	var said []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		said = append(said, literals(file)...)
	}
	return strings.Join(said, "\n"), nil
}

func literals(node ast.Node) []string {
	var found []string
	ast.Inspect(node, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if value, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, value)
			}
		}
		return true
	})
	return found
}
