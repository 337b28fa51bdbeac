package conformance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Checker checks Clusters against the API package's declarations.
type Checker struct {
	conditions map[string]bool
	reasons    map[string]bool
	argo       *Argo
}

// New reads the declarations from the repository that the working directory is in.
func New() (*Checker, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	argo, err := NewArgo()
	if err != nil {
		return nil, fmt.Errorf("read what Argo CD takes: %w", err)
	}
	c := &Checker{conditions: map[string]bool{}, reasons: map[string]bool{}, argo: argo}
	files, err := filepath.Glob(filepath.Join(root, "api", "v1alpha1", "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the source of the API: %w", err)
	}
	for _, file := range files {
		if err := c.read(file); err != nil {
			return nil, err
		}
	}
	if len(c.conditions) == 0 || len(c.reasons) == 0 {
		return nil, fmt.Errorf("there are no conditions or no reasons in %s: read the right directory", filepath.Join(root, "api"))
	}
	return c, nil
}

func repository() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	for at := directory; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "api", "v1alpha1")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("directory %s is not in the repository: run the test in its package", directory)
		}
	}
}

func (c *Checker) read(file string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", file, err)
	}
	for _, declaration := range parsed.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				c.declare(value)
			}
		}
	}
	return nil
}

// declare takes constants by the ends of their names, which is how the API package names them.
func (c *Checker) declare(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			return
		}
		literal, ok := spec.Values[i].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(literal.Value)
		switch {
		case err != nil:
		case strings.HasSuffix(name.Name, "Condition"):
			c.conditions[text] = true
		case strings.HasSuffix(name.Name, "Reason"):
			c.reasons[text] = true
		}
	}
}
