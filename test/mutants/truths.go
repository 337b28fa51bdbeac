package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// The operators of this file break conditions. What a condition names stays in the text, so that nothing becomes
// unused.

// always makes the condition that mentions the names true. A condition is that of an `if`, a `for` or a `case`, and
// any other expression that is a truth: what is returned, assigned or passed.
func always(mention string) operator {
	return truth("always", mention, func(text string) string { return "true || (" + text + ")" })
}

// never makes the condition that mentions the names false.
func never(mention string) operator {
	return truth("never", mention, func(text string) string { return "false && (" + text + ")" })
}

// given asks another expression, too, in the condition or operand that mentions the names.
func given(mention, expression string) operator {
	return operand("given", mention, func(text string, _ token.Token) string {
		return "((" + text + ") && " + expression + ")"
	})
}

// or lets another expression do, too, in the place of the condition or operand that mentions the names.
func or(mention, expression string) operator {
	return operand("or", mention, func(text string, _ token.Token) string {
		return "((" + text + ") || " + expression + ")"
	})
}

// without drops the operand of && or || that mentions the names.
func without(mention string) operator {
	return onlyOperand("without", mention, func(text string, of token.Token) string {
		if of == token.LAND {
			return "(true || " + text + ")"
		}
		return "(false && (" + text + "))"
	})
}

// either turns the && that joins what mentions the names into ||.
func either(mention string) operator {
	return eachNode("either", mention, func(f *function, node ast.Node) (site, bool) {
		c, ok := node.(*ast.BinaryExpr)
		if !ok || c.Op != token.LAND {
			return site{}, false
		}
		joined := "(" + f.in.textOf(c.X) + " || " + f.in.textOf(c.Y) + ")"
		return whole(f, c, func(string) string { return joined }), true
	})
}

// negated turns the condition or operand that mentions the names into its opposite.
func negated(mention string) operator {
	return operand("negated", mention, func(text string, _ token.Token) string { return "!(" + text + ")" })
}

// judged puts another condition or operand in the place of the one that mentions the names.
func judged(mention, expression string) operator {
	return operand("judged", mention, func(string, token.Token) string { return "(" + expression + ")" })
}

func truth(name, mention string, change func(text string) string) operator {
	return operator{name: name, mention: mention, sites: func(f *function) []site {
		return truthSites(f, change)
	}}
}

func truthSites(f *function, change func(text string) string) []site {
	var sites []site
	for _, c := range conditions(f) {
		sites = append(sites, site{
			node: c.node, about: c.about, edits: []edit{{c.node.Pos(), c.node.End(), change(f.in.textOf(c.node))}},
		})
	}
	return sites
}

func onlyOperand(name, mention string, change func(text string, of token.Token) string) operator {
	return operator{name: name, mention: mention, sites: func(f *function) []site { return operandSites(f, change) }}
}

func operand(name, mention string, change func(text string, of token.Token) string) operator {
	return operator{name: name, mention: mention, sites: func(f *function) []site {
		whole := truthSites(f, func(text string) string { return change(text, token.ILLEGAL) })
		return append(whole, operandSites(f, change)...)
	}}
}

func operandSites(f *function, change func(text string, of token.Token) string) []site {
	var sites []site
	ast.Inspect(f.decl.Body, func(node ast.Node) bool {
		binary, ok := node.(*ast.BinaryExpr)
		if !ok || !joins(binary.Op) {
			return true
		}
		for _, side := range []ast.Expr{binary.X, binary.Y} {
			if inner, ok := side.(*ast.BinaryExpr); ok && inner.Op == binary.Op {
				continue
			}
			sites = append(sites, site{
				node: side, about: []ast.Node{side},
				edits: []edit{{side.Pos(), side.End(), change(f.in.textOf(side), binary.Op)}},
			})
		}
		return true
	})
	return sites
}

// condition is a whole expression that is true or false, and what may be mentioned to mean it.
type condition struct {
	node  ast.Expr
	about []ast.Node
}

// conditions returns the whole conditions of a function, not their operands.
func conditions(f *function) []condition {
	s := &search{results: []*ast.FieldList{f.decl.Type.Results}}
	ast.Inspect(f.decl.Body, s.visit)
	return s.found
}

// search collects conditions.
type search struct {
	found []condition
	// results are those of the function, and of the function literals around the node that is visited.
	results []*ast.FieldList
}

func (s *search) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.FuncLit:
		s.results = append(s.results, node.Type.Results)
		ast.Inspect(node.Body, s.visit)
		s.results = s.results[:len(s.results)-1]
		return false
	case *ast.IfStmt:
		s.add(node.Cond, present(node.Init)...)
	case *ast.ForStmt:
		s.add(node.Cond)
	case *ast.SwitchStmt:
		if node.Tag == nil {
			eachCase(node, func(expression ast.Expr) { s.add(expression) })
		}
	case *ast.ReturnStmt:
		for i, result := range node.Results {
			if isBool(s.results[len(s.results)-1], i) {
				s.add(result)
			}
		}
	case ast.Expr:
		if isTruth(node) {
			s.add(node)
		}
	}
	return true
}

// add leaves out what is only a part of a condition that was found before.
func (s *search) add(node ast.Expr, more ...ast.Node) {
	if node == nil || slices.ContainsFunc(s.found, func(c condition) bool {
		return within(node, c.node) && !apart(node, c.node)
	}) {
		return
	}
	s.found = append(s.found, condition{node: node, about: append(more, node)})
}

func within(inner, outer ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// apart says that a function literal, a call or a composite literal stands between the two: the inner one is a
// condition of its own.
func apart(inner, outer ast.Expr) bool {
	found := false
	ast.Inspect(outer, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.FuncLit, *ast.CallExpr, *ast.CompositeLit:
			found = found || node != inner && within(inner, node)
		}
		return !found
	})
	return found
}

func present(statement ast.Stmt) []ast.Node {
	if statement == nil {
		return nil
	}
	return []ast.Node{statement}
}

func eachCase(s *ast.SwitchStmt, do func(expression ast.Expr)) {
	for _, clause := range s.Body.List {
		if clause, ok := clause.(*ast.CaseClause); ok {
			for _, expression := range clause.List {
				do(expression)
			}
		}
	}
}

// isBool says that the result of this number is a bool, as far as results have no names in common.
func isBool(results *ast.FieldList, number int) bool {
	if results == nil {
		return false
	}
	var types []ast.Expr
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			types = append(types, field.Type)
		}
	}
	if number >= len(types) {
		return false
	}
	name, ok := types[number].(*ast.Ident)
	return ok && name.Name == "bool"
}

// isTruth says that an expression can only be true or false, by how it is written.
func isTruth(expression ast.Expr) bool {
	switch expression := expression.(type) {
	case *ast.BinaryExpr:
		return joins(expression.Op) || compares(expression.Op)
	case *ast.UnaryExpr:
		return expression.Op == token.NOT
	}
	return false
}

func joins(op token.Token) bool { return op == token.LAND || op == token.LOR }

func compares(op token.Token) bool {
	return slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, op)
}
