package architecture_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestWordsThatAreNotOurs: they read as translated, so texts, comments, names of tests and fields do without them.
func TestWordsThatAreNotOurs(t *testing.T) {
	g := NewWithT(t)
	banned := regexp.MustCompile(
		`(?i:\b(some|no)body(s|'s)?\b|\banew\b|\bmend(s|ed|ing|able)?\b)|[a-z](Some|No)body|[a-z]Anew\b|Mend[A-Z]`,
	)
	ours := regexp.MustCompile(`http\.NoBody`)
	out, err := exec.CommandContext(
		t.Context(),
		"git",
		"-C",
		"../..",
		"ls-files",
		"--cached",
		"--others",
		"--exclude-standard",
	).Output()
	g.Expect(err).NotTo(HaveOccurred())
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if name == "LICENSE" || name == "test/architecture/words_test.go" || strings.HasSuffix(name, "go.sum") ||
			strings.Contains(name, "testdata/fuzz/") {
			continue
		}
		data, err := os.ReadFile("../../" + name)
		if os.IsNotExist(err) {
			continue // It is deleted and not committed yet.
		}
		g.Expect(err).NotTo(HaveOccurred(), name)
		number := 0
		for line := range strings.Lines(string(data)) {
			number++
			if word := banned.FindString(ours.ReplaceAllString(line, "")); word != "" {
				t.Errorf("%s:%d: %q: say someone, no one, again, fix", name, number, word)
			}
		}
	}
}
