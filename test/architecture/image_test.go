package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The image is built from what the Dockerfile copies. There is no Docker where the tests run, so go looks at these files: a package,
// or a file that is embedded, which was left out is an error here, and not at the user's first step.
func TestTheImageIsBuiltFromAllThatTheProgramNeeds(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	text, err := os.ReadFile("../../Dockerfile")
	g.Expect(err).NotTo(HaveOccurred())
	stages := strings.SplitAfter(string(text), "\nFROM ")
	for line := range strings.Lines(stages[0]) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "COPY" {
			continue
		}
		for _, pattern := range words[1 : len(words)-1] {
			copyInto(t, filepath.Join(folder, words[len(words)-1]), pattern)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-f", "{{with .Error}}{{.}}{{end}}", ".")
	command.Dir = folder
	said, err := command.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", said)
	g.Expect(strings.TrimSpace(string(said))).To(BeEmpty())
}

// copyInto as COPY does: the content of a directory, or files.
func copyInto(t *testing.T, folder, pattern string) {
	t.Helper()
	g := NewWithT(t)
	found, err := filepath.Glob(filepath.Join("..", "..", pattern))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).NotTo(BeEmpty(), pattern)
	g.Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	for _, source := range found {
		info, err := os.Stat(source)
		g.Expect(err).NotTo(HaveOccurred())
		if info.IsDir() {
			g.Expect(os.CopyFS(folder, os.DirFS(source))).To(Succeed())
			continue
		}
		content, err := os.ReadFile(source)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(filepath.Join(folder, filepath.Base(source)), content, 0o600)).To(Succeed())
	}
}
