package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// variable is the environment variable that switches one mutant of a binary on, by its number. 0 is none.
const variable = "ACTIVE_MUTANT"

// woven are the files of the repository with all chosen mutants in them, by their paths. Every mutated function is
// there twice: as it was, and as a broken copy, to which it hands over when its mutant is the active one. So one
// compilation serves for all, which takes minutes where a compilation for each takes hours.
func woven(broken map[int][]breakage) map[string]string {
	byFile := map[*source]map[*function]map[int][]edit{}
	for number, breakages := range broken {
		for _, b := range breakages {
			if byFile[b.function.in] == nil {
				byFile[b.function.in] = map[*function]map[int][]edit{}
			}
			if byFile[b.function.in][b.function] == nil {
				byFile[b.function.in][b.function] = map[int][]edit{}
			}
			byFile[b.function.in][b.function][number] = append(byFile[b.function.in][b.function][number], b.edits...)
		}
	}
	files := map[string]string{}
	for in, functions := range byFile {
		files[in.path] = weave(in, functions)
		files[switchFile(in.path)] = switchText(in.file.Name.Name)
	}
	return files
}

// breakage is what a mutant does to one function.
type breakage struct {
	function *function
	edits    []edit
}

func weave(in *source, functions map[*function]map[int][]edit) string {
	var edits []edit
	var copies strings.Builder
	inOrder := func(a, b *function) int { return cmp.Compare(a.decl.Pos(), b.decl.Pos()) }
	for _, f := range slices.SortedFunc(maps.Keys(functions), inOrder) {
		names, renamed := parameters(f)
		edits = append(edits, renamed...)
		var branches strings.Builder
		for _, number := range slices.Sorted(maps.Keys(functions[f])) {
			fmt.Fprintf(&branches, "case %d: %s; ", number, handOver(f, number, names))
			copies.WriteString(brokenCopy(f, number, functions[f][number]))
		}
		at := f.decl.Body.Lbrace + 1
		edits = append(edits, edit{at, at, " switch activeMutant { " + branches.String() + "};"})
	}
	return in.edited(in.file.FileStart, in.file.FileEnd, edits) + copies.String()
}

// brokenCopy is the function under another name, broken. Errors of the compiler name the mutant in place of a file.
func brokenCopy(f *function, number int, edits []edit) string {
	name := f.decl.Name
	edits = append(slices.Clone(edits), edit{name.Pos(), name.End(), copyName(f, number)})
	return fmt.Sprintf("\n//line %s:1\n%s\n", marker(number), f.in.edited(f.decl.Pos(), f.decl.End(), edits))
}

func copyName(f *function, number int) string {
	return fmt.Sprintf("mutant%d%s", number, f.decl.Name.Name)
}

func marker(number int) string { return fmt.Sprintf("/mutant/%d.go", number) }

// handOver calls the copy with the parameters as they are.
func handOver(f *function, number int, names []string) string {
	call := copyName(f, number)
	if f.decl.Recv != nil {
		call = names[0] + "." + call
		names = names[1:]
	} else if of := f.decl.Type.TypeParams; of != nil {
		call += "[" + strings.Join(namesOf(of), ", ") + "]"
	}
	call += "(" + strings.Join(names, ", ") + ")"
	if f.decl.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}

func namesOf(list *ast.FieldList) []string {
	var names []string
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// parameters returns what to call the copy with, the receiver first, and the edits that name what has no name.
func parameters(f *function) (names []string, edits []edit) {
	var fields []*ast.Field
	if f.decl.Recv != nil {
		fields = append(fields, f.decl.Recv.List...)
	}
	for _, field := range append(fields, f.decl.Type.Params.List...) {
		if len(field.Names) == 0 {
			name := "unnamed" + strconv.Itoa(len(names))
			edits = append(edits, edit{field.Type.Pos(), field.Type.Pos(), name + " "})
			names = append(names, passed(field, name))
		}
		for _, name := range field.Names {
			text := name.Name
			if text == "_" {
				text = "unnamed" + strconv.Itoa(len(names))
				edits = append(edits, edit{name.Pos(), name.End(), text})
			}
			names = append(names, passed(field, text))
		}
	}
	return names, edits
}

func passed(field *ast.Field, name string) string {
	if _, variadic := field.Type.(*ast.Ellipsis); variadic {
		return name + "..."
	}
	return name
}

func switchFile(path string) string {
	return path[:strings.LastIndex(path, "/")+1] + "active_mutant.go"
}

func switchText(name string) string {
	return `package ` + name + `

import (
	"os"
	"strconv"
)

var activeMutant, _ = strconv.Atoi(os.Getenv("` + variable + `"))
`
}
