package architecture_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFileLines = 400
	maxMainLines = 80
)

// source is a Go file of the repository; generated ones are not read.
type source struct {
	path  string
	lines int
	file  *ast.File
}

// rules are functions from all sources to the objections against them.
func rules() map[string]func([]source) []string {
	return map[string]func([]source) []string{
		"a file has at most 400 lines, the main file at most 80":                            filesAreShort,
		"a package says in doc.go what it is for":                                           packagesAreDocumented,
		"a name says what the thing is for":                                                 namesSaySomething,
		"no rule is switched off, and no test is left out":                                  nothingIsSwitchedOff,
		"constants, errors, embedded files and tables aside, nothing is global and changes": globalsDoNotChange,
	}
}

func filesAreShort(sources []source) []string {
	var objections []string
	for _, s := range sources {
		limit := maxFileLines
		if s.path == "main.go" {
			limit = maxMainLines
		}
		if s.lines > limit {
			objections = append(objections, fmt.Sprintf("%s has %d lines, %d are allowed: split it", s.path, s.lines, limit))
		}
	}
	return objections
}

// packagesAreDocumented lets a command that is a single main.go say it there.
func packagesAreDocumented(sources []source) []string {
	files := map[string]int{}
	documented := map[string]bool{}
	for _, s := range sources {
		directory, name := path.Split(s.path)
		files[directory]++
		if s.file.Doc != nil && (name == "doc.go" || name == "main.go") {
			documented[directory+name] = true
		}
	}
	var objections []string
	for directory, count := range files {
		if !documented[directory+"doc.go"] && (count > 1 || !documented[directory+"main.go"]) {
			objections = append(objections, directory+" has no doc.go with a package comment")
		}
	}
	return objections
}

func namesSaySomething(sources []source) []string {
	empty := regexp.MustCompile(`(?i)(^|[/_.-])(utils?|helpers?|common|misc)([/_.-]|$)`)
	var objections []string
	for _, s := range sources {
		if empty.MatchString(s.path) || empty.MatchString(s.file.Name.Name) {
			objections = append(objections, fmt.Sprintf("%s (package %s): name it after what it does", s.path, s.file.Name.Name))
		}
	}
	return objections
}

func nothingIsSwitchedOff(sources []source) []string {
	var objections []string
	for _, s := range sources {
		for _, group := range s.file.Comments {
			for _, comment := range group.List {
				if directive := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")); strings.HasPrefix(directive, "nolint") ||
					strings.HasPrefix(directive, "lint:ignore") || strings.HasPrefix(directive, "revive:disable") {
					objections = append(objections, fmt.Sprintf("%s: //%s: fix the code instead", s.path, directive))
				}
			}
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			if call, ok := node.(*ast.SelectorExpr); ok && strings.HasPrefix(call.Sel.Name, "Skip") && isName(call.X, "t", "b", "f") {
				objections = append(objections, fmt.Sprintf("%s: a test that cannot run has to fail, not %s", s.path, call.Sel.Name))
			}
			return true
		})
	}
	return objections
}

// globalsDoNotChange looks for package-level variables of production code that are made to be changed: locks, maps and
// channels made empty, and pools.
func globalsDoNotChange(sources []source) []string {
	var objections []string
	for _, s := range sources {
		if strings.HasPrefix(s.path, "test/") || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for _, declaration := range s.file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, spec := range general.Specs {
				if value := spec.(*ast.ValueSpec); isMutable(value) && !isEmbedded(general) {
					objections = append(objections, fmt.Sprintf("%s: %s is package-level state: put it into a struct", s.path, value.Names[0]))
				}
			}
		}
	}
	return objections
}

// isMutable holds for variables without a value, and for those whose value is an empty map, a channel or a pointer to a
// new struct.
func isMutable(value *ast.ValueSpec) bool {
	if value.Names[0].Name == "_" {
		return false
	}
	if len(value.Values) == 0 {
		return true
	}
	switch v := value.Values[0].(type) {
	case *ast.CallExpr:
		return isName(v.Fun, "make", "new")
	case *ast.CompositeLit:
		return len(v.Elts) == 0
	case *ast.UnaryExpr:
		return v.Op == token.AND
	}
	return false
}

func isEmbedded(declaration *ast.GenDecl) bool {
	if declaration.Doc == nil {
		return false
	}
	for _, comment := range declaration.Doc.List {
		if strings.HasPrefix(comment.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

func isName(expression ast.Expr, names ...string) bool {
	identifier, ok := expression.(*ast.Ident)
	if !ok {
		return false
	}
	return slices.Contains(names, identifier.Name)
}

// load reads all Go files below a root, of all modules in it.
func load(root fs.FS) ([]source, error) {
	var sources []source
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isIgnored(name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		s, err := parse(root, name)
		if err == nil && !ast.IsGenerated(s.file) {
			sources = append(sources, s)
		}
		return err
	})
	return sources, err
}

// isIgnored holds for the directories that the go command leaves out, too.
func isIgnored(directory string) bool {
	base := path.Base(directory)
	return directory != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

func parse(root fs.FS, name string) (source, error) {
	content, err := fs.ReadFile(root, name)
	if err != nil {
		return source{}, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
	return source{path: name, lines: strings.Count(string(content), "\n"), file: file}, err
}
