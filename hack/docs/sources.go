package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
)

// sources are what the documents are made from.
type sources struct {
	// groups of the constants of the conditions, in the order of the file.
	groups []group
	// runbooks are the reasons that have one.
	runbooks map[string]bool
}

// group is a const block.
type group struct {
	title     string
	constants []constant
}

// constant is an exported string constant and its comment.
type constant struct {
	identifier, value, comment string
}

func read() (*sources, error) {
	s := &sources{}
	var err error
	if s.groups, err = readGroups(conditionsFile); err != nil {
		return nil, err
	}
	s.runbooks = map[string]bool{}
	for _, reason := range runbooks.Reasons() {
		s.runbooks[reason] = true
	}
	return s, nil
}

// readGroups reads the const blocks of a file.
func readGroups(path string) ([]group, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var groups []group
	for _, declaration := range file.Decls {
		block, ok := declaration.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		g := group{title: text(block.Doc)}
		for _, spec := range block.Specs {
			c, err := readConstant(spec.(*ast.ValueSpec))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			g.constants = append(g.constants, c)
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func readConstant(spec *ast.ValueSpec) (constant, error) {
	c := constant{identifier: spec.Names[0].Name, comment: text(spec.Doc)}
	if len(spec.Values) != 1 {
		return c, fmt.Errorf("%s has no value of its own", c.identifier)
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return c, fmt.Errorf("the value of %s is no literal", c.identifier)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return c, fmt.Errorf("the value of %s is no string: %w", c.identifier, err)
	}
	c.value = value
	return c, nil
}

// text is a comment as one line.
func text(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}
