package main

import (
	"go/ast"
	"go/token"
)

// compared puts another operator in the comparison that mentions the names.
func compared(mention, with string) operator {
	return comparison("compared", mention, func(f *function, c *ast.BinaryExpr) edit {
		return edit{c.OpPos, c.OpPos + token.Pos(len(c.Op.String())), with}
	})
}

// against compares with another value: it takes the place of the right side.
func against(mention, expression string) operator {
	return comparison("against", mention, func(_ *function, c *ast.BinaryExpr) edit {
		return edit{c.Y.Pos(), c.Y.End(), expression}
	})
}

func comparison(name, mention string, change func(f *function, c *ast.BinaryExpr) edit) operator {
	return eachNode(name, mention, func(f *function, node ast.Node) (site, bool) {
		c, ok := node.(*ast.BinaryExpr)
		if !ok || !compares(c.Op) {
			return site{}, false
		}
		return site{node: c, about: []ast.Node{c}, edits: []edit{change(f, c)}}, true
	})
}

// skips leaves out the statement that mentions the names: an assignment, or a call whose result is not taken.
func skips(mention string) operator {
	return statement("skips", mention, func(text string) string { return "if false {\n" + text + "\n}" })
}

// defers puts the statement that mentions the names off to the end of the function.
func defers(mention string) operator {
	return statement("defers", mention, func(text string) string { return "defer " + text })
}

// does puts other statements in the place of the one that mentions the names.
func does(mention, statements string) operator {
	return statement("does", mention, func(string) string { return statements })
}

// goesOn puts statements behind the one that mentions the names.
func goesOn(mention, statements string) operator {
	return statement("goesOn", mention, func(text string) string { return text + "\n" + statements })
}

func statement(name, mention string, change func(text string) string) operator {
	return operator{name: name, mention: mention, sites: func(f *function) []site {
		var sites []site
		ast.Inspect(f.decl.Body, func(node ast.Node) bool {
			for _, line := range linesOf(node) {
				switch line.(type) {
				case *ast.AssignStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.ReturnStmt:
					sites = append(sites, whole(f, line, change))
				}
			}
			return true
		})
		return sites
	}}
}

func linesOf(node ast.Node) []ast.Stmt {
	switch node := node.(type) {
	case *ast.BlockStmt:
		return node.List
	case *ast.CaseClause:
		return node.Body
	}
	return nil
}

// begins puts statements at the beginning of the function.
func begins(statements string) operator {
	return operator{name: "begins", sites: func(f *function) []site {
		at := f.decl.Body.Lbrace + 1
		return []site{{node: f.decl.Body, about: []ast.Node{f.decl}, edits: []edit{{at, at, "\n" + statements + "\n"}}}}
	}}
}

// returns puts other results into the return that mentions the names.
func returns(mention, results string) operator {
	return eachNode("returns", mention, func(f *function, node ast.Node) (site, bool) {
		if _, ok := node.(*ast.ReturnStmt); !ok {
			return site{}, false
		}
		// What is no longer returned stays used.
		return whole(f, node, func(text string) string { return "if true {\nreturn " + results + "\n}\n" + text }), true
	})
}

// instead puts an expression in the place of the call that mentions the names.
func instead(mention, expression string) operator {
	return eachNode("instead", mention, func(f *function, node ast.Node) (site, bool) {
		if _, ok := node.(*ast.CallExpr); !ok {
			return site{}, false
		}
		return whole(f, node, func(string) string { return expression }), true
	})
}

// lacks drops the element of a list that mentions the names: of a literal, of arguments, or of a case.
func lacks(mention string) operator {
	return operator{name: "lacks", mention: mention, sites: func(f *function) []site {
		var sites []site
		ast.Inspect(f.decl.Body, func(node ast.Node) bool {
			list := listOf(node)
			for i, element := range list {
				from, to := element.Pos(), element.End()
				switch {
				case i+1 < len(list):
					to = list[i+1].Pos()
				case i > 0:
					from = list[i-1].End()
				}
				sites = append(sites, site{node: element, about: []ast.Node{element}, edits: []edit{{from, to, ""}}})
			}
			return true
		})
		return sites
	}}
}

func listOf(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.CompositeLit:
		return node.Elts
	case *ast.CallExpr:
		return node.Args
	case *ast.CaseClause:
		if len(node.List) > 1 {
			return node.List
		}
	}
	return nil
}

// becomes puts an expression in the place of the value that a variable, field or key gets, or that a `case` is for.
func becomes(mention, expression string) operator {
	return operator{name: "becomes", mention: mention, sites: func(f *function) []site {
		var sites []site
		add := func(about, value ast.Node) {
			sites = append(sites, site{
				node: about, about: []ast.Node{about}, edits: []edit{{value.Pos(), value.End(), expression}},
			})
		}
		ast.Inspect(f.decl.Body, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.AssignStmt:
				for i, value := range node.Rhs {
					if len(node.Rhs) == 1 {
						add(node, value)
					} else {
						add(node.Lhs[i], value)
					}
				}
			case *ast.KeyValueExpr:
				add(node, node.Value)
			case *ast.SwitchStmt:
				if node.Tag != nil {
					eachCase(node, func(expression ast.Expr) { add(expression, expression) })
				}
			}
			return true
		})
		return sites
	}}
}

// ranges lets the loop that mentions the names go over a part only: `[:1]` is the first element.
func ranges(mention, part string) operator {
	return eachNode("ranges", mention, func(f *function, node ast.Node) (site, bool) {
		loop, ok := node.(*ast.RangeStmt)
		if !ok {
			return site{}, false
		}
		return site{
			node: loop, about: []ast.Node{loop.X, loop.Body},
			edits: []edit{{loop.X.Pos(), loop.X.End(), f.in.textOf(loop.X) + part}},
		}, true
	})
}

// swaps exchanges the two sides of the calculation that mentions the names.
func swaps(mention string) operator {
	return eachNode("swaps", mention, func(f *function, node ast.Node) (site, bool) {
		c, ok := node.(*ast.BinaryExpr)
		if !ok || joins(c.Op) || compares(c.Op) {
			return site{}, false
		}
		return site{node: c, about: []ast.Node{c}, edits: []edit{
			{c.X.Pos(), c.X.End(), f.in.textOf(c.Y)}, {c.Y.Pos(), c.Y.End(), f.in.textOf(c.X)},
		}}, true
	})
}

// drops leaves out the side of a calculation that mentions the names.
func drops(mention string) operator {
	return operator{name: "drops", mention: mention, sites: func(f *function) []site {
		var sites []site
		ast.Inspect(f.decl.Body, func(node ast.Node) bool {
			if c, ok := node.(*ast.BinaryExpr); ok && !joins(c.Op) && !compares(c.Op) {
				sites = append(sites,
					site{node: c.X, about: []ast.Node{c.X}, edits: []edit{{c.X.Pos(), c.Y.Pos(), ""}}},
					site{node: c.Y, about: []ast.Node{c.Y}, edits: []edit{{c.X.End(), c.Y.End(), ""}}})
			}
			return true
		})
		return sites
	}}
}

// eachNode is an operator whose places are nodes of one sort.
func eachNode(name, mention string, of func(f *function, node ast.Node) (site, bool)) operator {
	return operator{name: name, mention: mention, sites: func(f *function) []site {
		var sites []site
		ast.Inspect(f.decl.Body, func(node ast.Node) bool {
			if s, ok := of(f, node); ok {
				sites = append(sites, s)
			}
			return true
		})
		return sites
	}}
}

func whole(f *function, node ast.Node, change func(text string) string) site {
	return site{node: node, about: []ast.Node{node}, edits: []edit{{node.Pos(), node.End(), change(f.in.textOf(node))}}}
}
