package architecture_test

import (
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// promised are the sections of the README and of docs/security.md whose list items are promises.
func promised() []string {
	return []string{"## What it never does", "## Compatibility promises", "## In short"}
}

// plain is a text without its line breaks and links: the two documents are in different folders.
func plain(text string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`(?s)\[([^\]]+)\]\([^)]+\)`).ReplaceAllString(text, "$1")), " ")
}

func TestPromisesHaveTests(t *testing.T) {
	g, root := NewWithT(t), os.DirFS("../..")
	var pages []string
	for _, page := range []string{"README.md", "docs/security.md"} {
		text, err := fs.ReadFile(root, page)
		g.Expect(err).NotTo(HaveOccurred())
		pages = append(pages, string(text))
	}
	document, err := fs.ReadFile(root, "docs/promises.md")
	g.Expect(err).NotTo(HaveOccurred())
	known := map[string]bool{}
	for _, s := range loaded(t, root) {
		maps.Copy(known, testsOf(s))
	}
	g.Expect(objections(strings.Join(pages, "\n"), string(document), known)).To(BeEmpty())
}

func TestPromisesObject(t *testing.T) {
	const pages = "## What it never does\n\n* It never lies. Not\n  ever.\n\n## More\n\n* It says a lot.\n\n## In short\n\n" +
		"* `--x` is\n  [bound\n  well](a.md#b).\n"
	const bound = "| `--x` is bound well. | `TestA` |\n"
	for name, tc := range map[string]struct {
		document string
		want     []string
	}{
		"a promise with a test":       {"| It never lies. Not ever. | `TestA` |\n", nil},
		"a promise that is not there": {"", []string{"no test is named for: It never lies. Not ever."}},
		"a promise without a test": {"| It never lies. Not ever. | later |\n", []string{"no test is named for: It never lies. Not " +
			"ever."}},
		"a test that does not exist": {"| It never lies. Not ever. | `TestA`, `TestB` |\n", []string{"TestB does not exist"}},
		"a promise that is not made": {"| It never lies. Not ever. | `TestA` |\n| It flies. | `TestA` |\n", []string{"no page promises: It flies."}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(objections(pages, tc.document+bound, map[string]bool{"TestA": true})).To(Equal(tc.want))
		})
	}
}

// testsOf are the functions of a test file.
func testsOf(s source) map[string]bool {
	found := map[string]bool{}
	for _, declaration := range s.file.Decls {
		if function, is := declaration.(*ast.FuncDecl); is && strings.HasSuffix(s.path, "_test.go") {
			found[function.Name.Name] = true
		}
	}
	return found
}

// objections against the table of promises.
func objections(pages, document string, known map[string]bool) (objections []string) {
	made := map[string]bool{}
	for _, section := range promised() {
		_, text, _ := strings.Cut(pages, section+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		for _, item := range strings.Split(text, "\n* ")[1:] {
			item, _, _ = strings.Cut(item, "\n\n")
			made[plain(item)] = true
		}
	}
	tested := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| ([A-Z`].*?) \\| (.*) \\|$").FindAllStringSubmatch(document, -1) {
		names := regexp.MustCompile(`\bTest\w+`).FindAllString(row[2], -1)
		if row[1] == "Promise" {
			continue
		}
		tested[row[1]] = len(names) > 0
		if !made[row[1]] {
			objections = append(objections, "no page promises: "+row[1])
		}
		for _, name := range names {
			if !known[name] {
				objections = append(objections, name+" does not exist")
			}
		}
	}
	for _, promise := range slices.Sorted(maps.Keys(made)) {
		if !tested[promise] {
			objections = append(objections, "no test is named for: "+promise)
		}
	}
	return objections
}
