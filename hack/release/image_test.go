//go:build release

package main

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"
)

// The registry of the real base cannot be asked here: another image takes its place, with the user that the real one has.
// https://github.com/GoogleContainerTools/distroless/blob/main/static/BUILD
func TestTheImageIsForEachProcessor(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	base := strings.TrimPrefix(server.URL, "http://") + "/static:nonroot"
	t.Setenv("KO_DEFAULTBASEIMAGE", base)
	pushBase(t, base)

	clone := filepath.Join(t.TempDir(), "clone")
	command(t, ".", "git", "clone", "--quiet", "../..", clone)
	command(t, clone, "git", "tag", "v0.0.1")
	t.Chdir(clone)
	r := release{version: "v0.0.1", image: "registry.example/manager", out: filepath.Join(clone, "out")}
	g.Expect(r.check(t.Context())).To(Succeed())
	g.Expect(r.layout(t.Context())).To(Succeed())

	index, err := layout.ImageIndexFromPath(r.out + "-image")
	g.Expect(err).NotTo(HaveOccurred())
	manifest, err := index.IndexManifest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(manifest.Manifests).To(HaveLen(1))
	both, err := index.ImageIndex(manifest.Manifests[0].Digest)
	g.Expect(err).NotTo(HaveOccurred())
	images, err := both.IndexManifest()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(images.Manifests).To(HaveLen(2))
	for _, each := range images.Manifests {
		image, err := both.Image(each.Digest)
		g.Expect(err).NotTo(HaveOccurred())
		config, err := image.ConfigFile()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(config.Architecture).To(Equal(each.Platform.Architecture))
		g.Expect(config.Config.Entrypoint).To(Equal([]string{"/ko-app/" + program}), "the Deployment names no command")
		g.Expect(config.Config.User).To(Equal("65532"))
		g.Expect(config.Created.Time).To(BeTemporally("==", r.made))
	}
}

// pushBase is an image for each processor, as the real base is.
func pushBase(t *testing.T, reference string) {
	t.Helper()
	g, index := NewWithT(t), v1.ImageIndex(empty.Index)
	for _, processor := range []string{"amd64", "arm64"} {
		image, err := random.Image(64, 1)
		g.Expect(err).NotTo(HaveOccurred())
		config, err := image.ConfigFile()
		g.Expect(err).NotTo(HaveOccurred())
		config.OS, config.Architecture, config.Config.User = "linux", processor, "65532"
		image, err = mutate.ConfigFile(image, config)
		g.Expect(err).NotTo(HaveOccurred())
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: processor}},
		})
	}
	ref, err := name.ParseReference(reference)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(remote.WriteIndex(ref, index)).To(Succeed())
}
