package manifest_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// FuzzParseImage: what is read can be written again, its name is one element, and nothing panics. What is refused has
// neither parts nor a name.
func FuzzParseImage(f *testing.F) {
	for _, seed := range []string{
		"", "nginx", "nginx:1.27", "mirror:5000/a", "[::1]:5000/a:v1", "a:b:c", ":v1", "mirror/", "https://mirror/a", "a@sha256:00",
		"registry.k8s.io/a/b:v1@sha256:" + strings.Repeat("0", 64), "@sha512:" + strings.Repeat("0", 128),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := NewWithT(t)
		image, err := manifest.ParseImage(text)
		name := manifest.ImageName(text)
		if err != nil {
			g.Expect(image).To(BeZero())
			g.Expect(name).To(BeEmpty())
			return
		}
		written := image.Repository
		if image.Tag != "" {
			written += ":" + image.Tag
		}
		if image.Digest != "" {
			written += "@" + image.Digest
		}
		g.Expect(written).To(Equal(text))
		g.Expect("/" + image.Repository).To(HaveSuffix("/" + name))
		g.Expect(name).To(And(Not(BeEmpty()), Not(ContainSubstring("/"))))
	})
}
