package dashboard

import (
	"bytes"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
)

// rendered is a runbook as HTML, without the HTML that may stand in it: goldmark leaves that out unless it is told otherwise.
func rendered(runbook runbooks.Runbook) (template.HTML, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(inPage{}, 0))))
	out := &bytes.Buffer{}
	if err := markdown.Convert([]byte(runbook.Text), out); err != nil {
		return "", err
	}
	return template.HTML(out.String()), nil
}

// inPage fits a runbook into a page: its headings go below those of the page, and links to other documents, which the page does
// not have, become their text.
type inPage struct{}

// Transform a parsed runbook.
func (inPage) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var links []*ast.Link
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch node := node.(type) {
		case *ast.Heading:
			if entering {
				node.Level++
			}
		case *ast.Link:
			if entering {
				links = append(links, node)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		destination := string(link.Destination)
		name, isPage := strings.CutSuffix(path.Base(destination), ".md")
		_, isRunbook := runbooks.Lookup(name)
		switch {
		case isPage && isRunbook:
			link.Destination = []byte("/runbooks/" + name)
		case !strings.HasPrefix(destination, "https://"):
			parent := link.Parent()
			for child := link.FirstChild(); child != nil; child = link.FirstChild() {
				parent.InsertBefore(parent, link, child)
			}
			parent.RemoveChild(parent, link)
		}
	}
}
