//go:build release

package main

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// The clones have other paths, and the second run comes later.
func TestTwoRunsMakeTheSameBytes(t *testing.T) {
	g := NewWithT(t)
	var runs []map[string]string
	for range 2 {
		clone := filepath.Join(t.TempDir(), "clone")
		command(t, ".", "git", "clone", "--quiet", "../..", clone)
		command(t, clone, "git", "tag", "v0.0.1")
		command(t, clone, "go", "run", "./hack/release", "--version=v0.0.1", "--image=registry.example/manager", "--out=out/files")
		runs = append(runs, contents(t, filepath.Join(clone, "out/files")))
	}
	for name, content := range runs[0] {
		g.Expect(runs[1]).To(HaveKey(name))
		g.Expect(sha256.Sum256([]byte(runs[1][name]))).To(Equal(sha256.Sum256([]byte(content))), name)
		t.Logf("%8d KiB %s", len(content)/1024, name)
	}
	g.Expect(runs[1]).To(HaveLen(len(runs[0])))
}

func command(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), name, args...)
	run.Dir = folder
	said, err := run.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s", said)
}

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	g, found := NewWithT(t), map[string]string{}
	files, err := os.ReadDir(folder)
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(folder, file.Name()))
		g.Expect(err).NotTo(HaveOccurred())
		found[file.Name()] = string(content)
	}
	return found
}
