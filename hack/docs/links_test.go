package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	g := NewWithT(t)
	root := os.DirFS("../..")
	texts, err := documents(root)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(texts)).To(BeNumerically(">", 20))
	g.Expect(brokenLinks(root, texts)).To(BeEmpty())
}

// Each kind of link has to be able to be broken, and what is no link is left alone.
func TestBrokenLinksAreFound(t *testing.T) {
	files := map[string]string{
		"README.md":     "# Top\n",
		"docs/other.md": "# Other\n\n## The `fence`, and [more](other.md)!\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n",
		"docs/code.go":  "package docs\n",
	}
	for text, want := range map[string]string{
		"[a](other.md)":                                "",
		"[a](other.md#other)":                          "",
		"[a](other.md#the-fence-and-more)":             "",
		"[a](other.md#twice-1)":                        "",
		"[a](../README.md)":                            "",
		"[a](code.go#L1)":                              "",
		"[a](.)":                                       "",
		"[a](#here)\n\n# Here\n":                       "",
		"[a](https://example.com/no)":                  "",
		"`[a](gone.md)`":                               "",
		"```\n[a](gone.md)\n```\n":                     "",
		"[a][1]\n\n[1]: other.md#twice\n":              "",
		"[a](gone.md)":                                 "docs/page.md links to gone.md",
		"![a](gone.png)":                               "docs/page.md links to gone.png",
		"[a](other.md \"title\") [b](gone.md \"t\")":   "docs/page.md links to gone.md",
		"[a](other.md#gone)":                           "docs/page.md links to other.md#gone",
		"[a](other.md#no-heading)":                     "docs/page.md links to other.md#no-heading",
		"[a](other.md#twice-2)":                        "docs/page.md links to other.md#twice-2",
		"[a](#gone)\n\n# Here\n":                       "docs/page.md links to #gone",
		"[a](../../outside.md)":                        "docs/page.md links to ../../outside.md",
		"[a][1]\n\n[1]: gone.md\n":                     "docs/page.md links to gone.md",
		"[a][1]\n\n[1]: other.md#gone\n":               "docs/page.md links to other.md#gone",
		"[the text\nof two lines](gone.md)":            "docs/page.md links to gone.md",
		"| a | b |\n|---|---|\n| c | [d](gone.md) |\n": "docs/page.md links to gone.md",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			root := t.TempDir()
			g.Expect(os.Mkdir(path.Join(root, "docs"), 0o700)).To(Succeed())
			for name, content := range files {
				g.Expect(os.WriteFile(path.Join(root, name), []byte(content), 0o600)).To(Succeed())
			}
			g.Expect(os.WriteFile(path.Join(root, "docs/page.md"), []byte(text), 0o600)).To(Succeed())
			texts, err := documents(os.DirFS(root))
			g.Expect(err).NotTo(HaveOccurred())
			broken := brokenLinks(os.DirFS(root), texts)
			if want == "" {
				g.Expect(broken).To(BeEmpty())
			} else {
				g.Expect(broken).To(ConsistOf(want))
			}
		})
	}
}

// documents are what people read, by path.
func documents(root fs.FS) (map[string]string, error) {
	texts := map[string]string{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_")):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		texts[name] = string(text)
		return err
	})
	return texts, err
}

// brokenLinks names the links into the repository that lead nowhere.
func brokenLinks(root fs.FS, texts map[string]string) (broken []string) {
	headings := map[string][]string{}
	for name, text := range texts {
		headings[name] = anchors(text)
	}
	for name, text := range texts {
		for _, link := range links(text) {
			to, heading, _ := strings.Cut(link, "#")
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			_, err := fs.Stat(root, target)
			if err == nil && path.Ext(target) == ".md" && heading != "" && !slices.Contains(headings[target], heading) {
				err = fs.ErrNotExist
			}
			if err != nil {
				broken = append(broken, fmt.Sprintf("%s links to %s", name, link))
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// links of a document into the repository: those in the text, and those that are named at its end. What is code is no link.
func links(text string) (found []string) {
	words := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(prose(text), "")
	for _, form := range []string{`\]\(([^)\s]+)[^)]*\)`, `(?m)^\[[^\]]+\]: +(\S+)`} {
		for _, match := range regexp.MustCompile(form).FindAllStringSubmatch(words, -1) {
			if !strings.Contains(match[1], "://") {
				found = append(found, match[1])
			}
		}
	}
	return found
}

// prose is a document without its blocks of code.
func prose(text string) string {
	var out strings.Builder
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 0 {
			out.WriteString(part)
		}
	}
	return out.String()
}

// anchors of the headings, as GitHub makes them: lower case, spaces as hyphens, no other marks, and a number where one comes again.
func anchors(text string) (found []string) {
	seen := map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(prose(text), -1) {
		heading := regexp.MustCompile(`\]\([^)]*\)`).ReplaceAllString(match[1], "]")
		plain := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`).ReplaceAllString(strings.ToLower(heading), "")
		anchor := strings.ReplaceAll(plain, " ", "-")
		if count := seen[anchor]; count > 0 {
			anchor += fmt.Sprintf("-%d", count)
		}
		seen[strings.ReplaceAll(plain, " ", "-")]++
		found = append(found, anchor)
	}
	return found
}
