package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a file of a package as it was read.
type source struct {
	path string
	text string
	file *ast.File
	set  *token.FileSet
}

// function is a function or method, and the file that it stands in today.
type function struct {
	name string
	in   *source
	decl *ast.FuncDecl
}

// packages are folders of the repository. Each is parsed once, however many mutants it has.
type packages struct {
	root   string
	parsed map[string][]*function
}

func newPackages(root string) *packages {
	return &packages{root: root, parsed: map[string][]*function{}}
}

// find returns the function of this name, as `name` or `Type.method`, in whatever file of the package it stands.
func (p *packages) find(folder, name string) (*function, error) {
	functions, done := p.parsed[folder]
	if !done {
		var err error
		if functions, err = parseFolder(filepath.Join(p.root, folder)); err != nil {
			return nil, err
		}
		p.parsed[folder] = functions
	}
	at := slices.IndexFunc(functions, func(f *function) bool { return f.name == name })
	if at >= 0 {
		return functions[at], nil
	}
	return nil, fmt.Errorf("package %s has no function %s%s", folder, name, alike(functions, name))
}

// alike names functions that may have been the one that is sought, before it got another receiver.
func alike(functions []*function, name string) string {
	method := name[strings.LastIndex(name, ".")+1:]
	var names []string
	for _, f := range functions {
		if f.decl.Name.Name == method {
			names = append(names, f.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", but " + strings.Join(names, ", ")
}

func parseFolder(folder string) ([]*function, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", folder, err)
	}
	set := token.NewFileSet()
	var functions []*function
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return nil, fmt.Errorf("read a file of the package: %w", err)
		}
		more, err := parseSource(set, path, string(text))
		if err != nil {
			return nil, err
		}
		functions = append(functions, more...)
	}
	return functions, nil
}

func parseSource(set *token.FileSet, path, text string) ([]*function, error) {
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	in := &source{path: path, text: text, file: file, set: set}
	var functions []*function
	for _, declaration := range file.Decls {
		if decl, ok := declaration.(*ast.FuncDecl); ok && decl.Body != nil {
			functions = append(functions, &function{name: nameOf(decl), in: in, decl: decl})
		}
	}
	return functions, nil
}

// nameOf leaves out whether a receiver is a pointer: to make it one is no change of the rule.
func nameOf(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return decl.Name.Name
	}
	name := ""
	ast.Inspect(decl.Recv.List[0].Type, func(node ast.Node) bool {
		if identifier, ok := node.(*ast.Ident); ok && name == "" {
			name = identifier.Name
		}
		return name == ""
	})
	return name + "." + decl.Name.Name
}

// edit puts text in the place of what stands between two positions.
type edit struct {
	from, to token.Pos
	text     string
}

func (s *source) offset(at token.Pos) int { return s.set.Position(at).Offset }

func (s *source) line(at token.Pos) int { return s.set.Position(at).Line }

func (s *source) between(from, to token.Pos) string { return s.text[s.offset(from):s.offset(to)] }

func (s *source) textOf(node ast.Node) string { return s.between(node.Pos(), node.End()) }

// edited returns what stands between two positions, with the edits made in it. They do not overlap.
func (s *source) edited(from, to token.Pos, edits []edit) string {
	var out strings.Builder
	at := from
	inOrder := func(a, b edit) int { return cmp.Compare(a.from, b.from) }
	for _, e := range slices.SortedStableFunc(slices.Values(edits), inOrder) {
		out.WriteString(s.between(at, e.from))
		out.WriteString(e.text)
		at = e.to
	}
	out.WriteString(s.between(at, to))
	return out.String()
}
