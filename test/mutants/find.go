package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// site is a place in a function that an operator could break.
type site struct {
	node ast.Node
	// about is what has to mention the names: mostly the node itself.
	about []ast.Node
	edits []edit
}

// operator is a way to break a function. It selects one place in it by names that this place mentions: identifiers,
// fields, callees, words of texts, signs as `==`. A name behind a minus must not be mentioned. It never quotes a
// line, so that a line may be written in another way.
type operator struct {
	name    string
	mention string
	sites   func(f *function) []site
}

func (o operator) String() string { return fmt.Sprintf("%s(%q)", o.name, o.mention) }

// place returns the edits of the one place that mentions the names.
func (o operator) place(f *function) ([]edit, error) {
	sites := o.sites(f)
	found := innermost(mentioning(sites, strings.Fields(o.mention)))
	switch {
	case len(found) == 1:
		return found[0].edits, nil
	case len(sites) == 0:
		return nil, fmt.Errorf("%s: nothing in %s can be broken like that", o, f.name)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no place in %s mentions this; there are:%s", o, f.name, listed(f, sites))
	}
	return nil, fmt.Errorf("%s: %d places in %s mention this; name more of what only the right one mentions:%s",
		o, len(found), f.name, listed(f, found))
}

func mentioning(sites []site, names []string) []site {
	return slices.DeleteFunc(slices.Clone(sites), func(s site) bool {
		said := mentioned(s.about)
		return slices.ContainsFunc(names, func(name string) bool {
			other, not := strings.CutPrefix(name, "-")
			return said[other] == not
		})
	})
}

// innermost leaves out what has another one of them inside: in `a && (b || c)`, b alone is meant when b is named.
func innermost(sites []site) []site {
	return slices.DeleteFunc(slices.Clone(sites), func(outer site) bool {
		return slices.ContainsFunc(sites, func(inner site) bool {
			return inner.node != outer.node && within(inner.node, outer.node)
		})
	})
}

// mentioned returns every name, sign, and text in the nodes, and the words of each text.
func mentioned(nodes []ast.Node) map[string]bool {
	said := map[string]bool{}
	for _, node := range nodes {
		ast.Inspect(node, func(part ast.Node) bool {
			switch part := part.(type) {
			case *ast.Ident:
				said[part.Name] = true
			case *ast.BinaryExpr:
				said[part.Op.String()] = true
			case *ast.BasicLit:
				say(said, part)
			}
			return true
		})
	}
	return said
}

func say(said map[string]bool, lit *ast.BasicLit) {
	text, err := strconv.Unquote(lit.Value)
	if lit.Kind != token.STRING || err != nil {
		said[lit.Value] = true
		return
	}
	said[text] = true
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(text, between) {
		said[word] = true
	}
}

func listed(f *function, sites []site) string {
	var out strings.Builder
	for _, s := range sites {
		text := strings.Join(strings.Fields(f.in.textOf(s.node)), " ")
		if most := 100; len(text) > most {
			text = text[:most] + "..."
		}
		fmt.Fprintf(&out, "\n\tline %d: %s", f.in.line(s.node.Pos()), text)
	}
	return out.String()
}
