package audit

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestSince(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	log, err := New(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Flags()).To(HaveKeyWithValue("audit-policy-file", BeAnExistingFile()))
	path := filepath.Join(folder, "audit.log")
	g.Expect(os.WriteFile(path, []byte(`{"verb":"create","requestURI":"/before","user":{"username":"a"}}`+"\n"), 0o600)).To(
		Succeed(),
	)
	mark, err := log.Mark()
	g.Expect(err).NotTo(HaveOccurred())
	add := func(text string) {
		file, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_WRONLY, 0)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = file.WriteString(text)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(file.Close()).To(Succeed())
	}
	add(`{"verb":"list","requestURI":"/x","user":{"username":"a"}}
{"verb":"patch","requestURI":"/y?dryRun=All","user":{"username":"root"},"impersonatedUser":{"username":"a"}}
{"verb":"delete","requestURI":"/z","user":{"username":"a"}}
{"verb":"delete","requestURI":"/z","user":{"username":"b"}}
{"verb":"del`)
	events, err := log.Since(mark)
	g.Expect(err).NotTo(HaveOccurred())
	all, dry, writes := Count(events, "a")
	g.Expect([]any{all, dry, writes}).To(Equal([]any{3, 1, []string{"delete /z"}}))

	add("\n{}\n")
	_, err = log.Since(mark)
	g.Expect(err).To(MatchError(ContainSubstring("audit.log")), "a line in the middle that cannot be read")
}
