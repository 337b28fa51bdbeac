package keeper

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestKeep(t *testing.T) {
	tests := map[string]struct {
		change func(dir string) error
		wrong  string
	}{
		"the same data are found":             {func(string) error { return nil }, ""},
		"other data are noticed":              {func(dir string) error { return os.WriteFile(filepath.Join(dir, DataFile), []byte("x"), 0o600) }, "have checksum"},
		"data that are gone are not replaced": {func(dir string) error { return os.Remove(filepath.Join(dir, DataFile)) }, "read the data"},
		"a checksum that is gone is not made": {func(dir string) error { return os.Remove(filepath.Join(dir, ChecksumFile)) }, "read the checksum"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(keep(dir, "n1")).To(Equal(Visit{Node: "n1", Did: Wrote}))
			g.Expect(test.change(dir)).To(Succeed())
			visit, err := keep(dir, "n2")
			if test.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.wrong)))
				g.Expect(Visits(dir)).To(HaveLen(1))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(visit).To(Equal(Visit{Node: "n2", Did: Found}))
			g.Expect(Visits(dir)).To(Equal([]Visit{{Node: "n1", Did: Wrote}, {Node: "n2", Did: Found}}))
		})
	}
}

func TestAProcessSaysWhenItLeaves(t *testing.T) {
	g := NewWithT(t)
	o := &options{dir: t.TempDir(), node: "n1"}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.run(ctx) }()
	g.Eventually(func() ([]Visit, error) { return Visits(o.dir) }).Should(Equal([]Visit{{Node: "n1", Did: Wrote}}))
	cancel()
	g.Eventually(ended).Should(Receive(BeNil()))
	g.Expect(Visits(o.dir)).To(Equal([]Visit{{Node: "n1", Did: Wrote}, {Node: "n1", Did: Left}}))
}

func TestAFolderThatIsNotThereIsNoEmptyVolume(t *testing.T) {
	g := NewWithT(t)
	_, err := keep(filepath.Join(t.TempDir(), "missing"), "n1")
	g.Expect(err).To(MatchError(ContainSubstring("read the data")))
}
