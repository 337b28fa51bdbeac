package runbooks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
)

const root = "../.."

// declared are the values of the constants of the API whose names end in Reason, by name.
func declared(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, file := range parsed(t, "api/v1alpha1") {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || !strings.HasSuffix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
				return true
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				value, err := strconv.Unquote(literal.Value)
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				values[spec.Names[0].Name] = value
			}
			return true
		})
	}
	NewWithT(t).Expect(values).NotTo(BeEmpty())
	return values
}

func parsed(t *testing.T, folder string) []*ast.File {
	t.Helper()
	g := NewWithT(t)
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	g.Expect(err).NotTo(HaveOccurred())
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		g.Expect(err).NotTo(HaveOccurred())
		files = append(files, file)
	}
	return files
}

// stalled are the names of the constants that can be the reason of Stalled: the group of failures, what the decisions
// fail with, and waits that become failures when they take too long, or that no waiting ends.
func stalled(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{
		"RollingOutReason": true, "NodesNotReadyReason": true, "ProvingSilenceReason": true, "WaitingForAdministratorReason": true,
		"WaitingForLeaderReason": true, "ArmingReason": true, "ProbingReason": true,
		"KubeconfigInvalidReason": true, "KubeconfigRefusedReason": true,
	}
	failures := 0
	for _, file := range parsed(t, "api/v1alpha1") {
		for _, declaration := range file.Decls {
			block, ok := declaration.(*ast.GenDecl)
			if !ok || block.Tok != token.CONST || !strings.HasPrefix(block.Doc.Text(), "Reasons of failure") {
				continue
			}
			for _, spec := range block.Specs {
				names[spec.(*ast.ValueSpec).Names[0].Name] = true
				failures++
			}
		}
	}
	NewWithT(t).Expect(failures).To(BeNumerically(">", 10), "the group of failures was found")
	for _, file := range parsed(t, "pkg/migration") {
		ast.Inspect(file, func(node ast.Node) bool {
			if name := failsWith(node); name != "" {
				names[name] = true
			}
			return true
		})
	}
	return names
}

// failsWith is XReason in fails(ucv1.XReason, …).
func failsWith(node ast.Node) string {
	call, ok := node.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	if called, ok := call.Fun.(*ast.Ident); !ok || called.Name != "fails" {
		return ""
	}
	reason, ok := call.Args[0].(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if from, ok := reason.X.(*ast.Ident); !ok || from.Name != "ucv1" {
		return ""
	}
	return reason.Sel.Name
}

func TestEachReasonOfStalledHasARunbook(t *testing.T) {
	values, there := declared(t), runbooks.Reasons()
	for name := range stalled(t) {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(there).To(ContainElement(values[name]))
		})
	}
}

func TestEachRunbookIsAboutAReasonOrAFinding(t *testing.T) {
	g := NewWithT(t)
	known := preflight.IDs()
	for _, value := range declared(t) {
		known = append(known, value)
	}
	g.Expect(known).To(ContainElements(runbooks.Reasons()))
}

func TestEachFindingHasARunbook(t *testing.T) {
	g := NewWithT(t)
	list, err := os.ReadFile(filepath.Join(root, "docs/preflight.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, id := range preflight.IDs() {
		g.Expect(runbooks.Reasons()).To(ContainElement(id))
		g.Expect(string(list)).To(ContainSubstring("[" + id + "](runbooks/" + id + ".md)"))
	}
}

func TestRunbooksHaveTheirSections(t *testing.T) {
	for _, reason := range runbooks.Reasons() {
		t.Run(reason, func(t *testing.T) {
			g := NewWithT(t)
			runbook, found := runbooks.Lookup(reason)
			g.Expect(found).To(BeTrue())
			g.Expect(headings(runbook.Text)).To(Equal([]string{
				"# " + reason, "## " + runbooks.Symptoms, "## " + runbooks.Meaning, "## " + runbooks.Checks, "## " + runbooks.Remedy,
			}))
			for _, section := range []string{runbooks.Symptoms, runbooks.Meaning, runbooks.Checks, runbooks.Remedy} {
				g.Expect(runbook.Section(section)).NotTo(BeEmpty(), section)
			}
			g.Expect(runbook.Paragraph(runbooks.Meaning)).NotTo(BeEmpty(), "the program prints it")
			g.Expect(runbook.Blocks(runbooks.Checks)).NotTo(BeEmpty(), "there is always a command to look with")
		})
	}
}

// headings outside of blocks of code, where # begins a comment.
func headings(text string) (found []string) {
	for i, part := range strings.Split(text, "```") {
		for line := range strings.Lines(part) {
			if i%2 == 0 && strings.HasPrefix(line, "#") {
				found = append(found, strings.TrimSpace(line))
			}
		}
	}
	return found
}

func TestBlocksSayWhereTheirCommandsRun(t *testing.T) {
	for _, reason := range runbooks.Reasons() {
		runbook, _ := runbooks.Lookup(reason)
		for _, section := range []string{runbooks.Checks, runbooks.Remedy} {
			for _, block := range runbook.Blocks(section) {
				t.Run(reason+" "+section, func(t *testing.T) {
					g := NewWithT(t)
					g.Expect(block.Where).To(MatchRegexp("^(management cluster|user cluster|anywhere)$"))
					g.Expect(block.Commands).NotTo(BeEmpty())
					for _, command := range block.Commands {
						g.Expect(command).To(MatchRegexp("^(kubectl|ccm-migration-controller) "))
					}
				})
			}
		}
	}
}

func TestOperationsListEveryRunbook(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile(filepath.Join(root, "docs/operations.md"))
	g.Expect(err).NotTo(HaveOccurred())
	_, list, found := strings.Cut(string(text), "\n## Runbooks\n")
	g.Expect(found).To(BeTrue())
	var listed []string
	for _, match := range regexp.MustCompile(`\[(\w+)\]\(runbooks/(\w+)\.md\)`).FindAllStringSubmatch(list, -1) {
		g.Expect(match[1]).To(Equal(match[2]))
		listed = append(listed, match[1])
	}
	findings := preflight.IDs()
	for _, reason := range runbooks.Reasons() {
		if !slices.Contains(findings, reason) || slices.Contains(slices.Collect(maps.Values(declared(t))), reason) {
			g.Expect(listed).To(ContainElement(reason))
		}
	}
	g.Expect(runbooks.Reasons()).To(ContainElements(listed))
}

func TestARunbookIsReadBySections(t *testing.T) {
	g := NewWithT(t)
	runbook := runbooks.Runbook{Reason: "Late",
		Text: "# Late\n\n## Meaning\n\nIt is **late**, see\n[`Early`](Early.md).\n\nMore.\n\n## Checks\n\n" +
			"Look.\n\n```sh\n# user cluster\nkubectl get nodes\nkubectl get pods\n```\n\n```sh\n# anywhere, only at night\ntrue\n```\n\n" +
			"```console\n$ not this\n```\n\n## Remedy\n\n| a |\n"}
	g.Expect(runbook.Paragraph(runbooks.Meaning)).To(Equal("It is late, see Early."))
	g.Expect(runbook.Paragraph(runbooks.Remedy)).To(BeEmpty(), "a table is no prose")
	g.Expect(runbook.Blocks(runbooks.Checks)).To(Equal([]runbooks.Block{
		{Where: "user cluster", Commands: []string{"kubectl get nodes", "kubectl get pods"}},
		{Where: "anywhere", Only: "only at night", Commands: []string{"true"}},
	}))
	g.Expect(runbook.Blocks(runbooks.Remedy)).To(BeEmpty())
	g.Expect(runbook.Path()).To(Equal("docs/runbooks/Late.md"))
	_, found := runbooks.Lookup("Late")
	g.Expect(found).To(BeFalse())
	g.Expect(slices.IsSorted(runbooks.Reasons())).To(BeTrue())
}
