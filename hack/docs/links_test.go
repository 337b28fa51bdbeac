package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// documents are what people read, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	g, texts := NewWithT(t), map[string]string{}
	root := os.DirFS("../..")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := fs.Glob(root, pattern)
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range paths {
			text, err := fs.ReadFile(root, name)
			g.Expect(err).NotTo(HaveOccurred())
			texts[name] = string(text)
		}
	}
	g.Expect(len(texts)).To(BeNumerically(">", 20))
	return texts
}

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	texts := documents(t)
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			words := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(prose(text), "")
			for _, match := range regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`).FindAllStringSubmatch(words, -1) {
				if strings.Contains(match[1], "://") {
					continue
				}
				expectTarget(t, texts, name, match[1], strings.TrimPrefix(match[2], "#"))
			}
		})
	}
}

func expectTarget(t *testing.T, texts map[string]string, from, to, heading string) {
	t.Helper()
	g := NewWithT(t)
	target := from
	if to != "" {
		target = path.Join(path.Dir(from), to)
	}
	_, err := os.Stat(filepath.Join("../..", target))
	g.Expect(err).NotTo(HaveOccurred(), "%s links to %s", from, to)
	if heading != "" {
		g.Expect(anchors(texts[target])).To(HaveKey(heading), "%s links to %s", from, to)
	}
}

// prose is a document without its blocks of code.
func prose(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "\n```") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}

// anchors of the headings, as GitHub makes them: lower case, spaces as hyphens, no other marks.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(prose(text), -1) {
		plain := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(match[1]), "")
		found[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return found
}
