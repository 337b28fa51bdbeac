package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

func TestReleasesThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		arguments []string
		prepare   func(t *testing.T)
		says      string
	}{
		"one without a version":            {arguments: []string{"--out=out"}, says: "usage"},
		"one whose version is no tag's":    {arguments: []string{"--version=1.0", "--out=out"}, says: "usage"},
		"one of a commit without the tag":  {arguments: []string{"--version=v0.0.2", "--out=out"}, says: "git tag v0.0.2"},
		"one of a checkout with a change":  {arguments: []string{"--version=v0.0.1", "--out=out"}, prepare: change, says: "in no commit"},
		"one to a folder that has another": {arguments: []string{"--version=v0.0.1", "--out=.git"}, says: "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			repository(t)
			if tc.prepare != nil {
				tc.prepare(t)
			}
			NewWithT(t).Expect(run(t.Context(), tc.arguments)).To(MatchError(ContainSubstring(tc.says)))
		})
	}
}

// repository is a new one with one commit, which has the tag v0.0.1; the test goes on in it.
func repository(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, arguments := range [][]string{
		{"init", "--quiet"}, {"-c", "user.name=test", "-c", "user.email=test@test.invalid", "commit", "--quiet", "--allow-empty", "-m=Begin"},
		{"tag", "v0.0.1"},
	} {
		_, err := output(t.Context(), nil, "git", arguments...)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
}

func change(t *testing.T) {
	t.Helper()
	NewWithT(t).Expect(os.WriteFile("new.go", nil, 0o600)).To(Succeed())
}

func TestAnArchiveSaysOnlyWhatTheFilesDo(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	r := release{out: folder, made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, name := range []string{"LICENSE", program} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600)).To(Succeed())
	}
	files := map[string]string{program: filepath.Join(folder, program), "LICENSE": filepath.Join(folder, "LICENSE")}
	g.Expect(r.pack("a.tar.gz", files)).To(Succeed())
	g.Expect(os.Chtimes(filepath.Join(folder, program), r.made.Add(time.Hour), r.made.Add(time.Hour))).To(Succeed())
	g.Expect(r.pack("b.tar.gz", files)).To(Succeed())
	one, err := os.ReadFile(filepath.Join(folder, "a.tar.gz"))
	g.Expect(err).NotTo(HaveOccurred())
	other, err := os.ReadFile(filepath.Join(folder, "b.tar.gz"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(one, other)).To(BeTrue())

	unzipped, err := gzip.NewReader(bytes.NewReader(one))
	g.Expect(err).NotTo(HaveOccurred())
	archive, modes := tar.NewReader(unzipped), map[string]int64{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(header.ModTime).To(BeTemporally("==", r.made))
		modes[header.Name] = header.Mode
	}
	g.Expect(modes).To(Equal(map[string]int64{"LICENSE": 0o644, program: 0o755}))
}

func TestTheManifestOfThePluginNamesEachArchive(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	r := release{version: "v0.0.1", out: folder, platforms: []string{"linux/amd64", "darwin/arm64"}}
	for _, platform := range r.platforms {
		g.Expect(os.WriteFile(filepath.Join(folder, r.archiveName(platform)), []byte(platform), 0o600)).To(Succeed())
	}
	g.Expect(r.plugin()).To(Succeed())
	content, err := os.ReadFile(filepath.Join(folder, "ccm-migration.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	manifest := struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, Sha256, Bin string
			}
		}
	}{}
	g.Expect(yaml.Unmarshal(content, &manifest)).To(Succeed())
	g.Expect(manifest.Spec.Version).To(Equal("v0.0.1"))
	g.Expect(manifest.Spec.Platforms).To(HaveLen(2))
	for i, platform := range manifest.Spec.Platforms {
		sum, err := r.checksum(filepath.Base(platform.URI))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(platform.Sha256).To(Equal(sum))
		g.Expect(platform.Selector.MatchLabels["os"] + "/" + platform.Selector.MatchLabels["arch"]).To(Equal(r.platforms[i]))
	}
}
