package manifest_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestParseImage(t *testing.T) {
	long, longer := "sha256:"+strings.Repeat("0", 64), "sha512:"+strings.Repeat("0", 128)
	for name, tc := range map[string]struct {
		image string
		want  manifest.Image
		// name is what mirrors keep.
		name    string
		refused bool
	}{
		"a name alone":           {image: "nginx", want: manifest.Image{Repository: "nginx"}, name: "nginx"},
		"a tag":                  {image: "nginx:1.27", want: manifest.Image{Repository: "nginx", Tag: "1.27"}, name: "nginx"},
		"a registry without tag": {image: "registry.k8s.io/a/b", want: manifest.Image{Repository: "registry.k8s.io/a/b"}, name: "b"},
		"a port without tag":     {image: "mirror:5000/a", want: manifest.Image{Repository: "mirror:5000/a"}, name: "a"},
		"a port and a tag":       {image: "mirror:5000/a:v1", want: manifest.Image{Repository: "mirror:5000/a", Tag: "v1"}, name: "a"},
		"an address of IPv6":     {image: "[::1]:5000/a:v1", want: manifest.Image{Repository: "[::1]:5000/a", Tag: "v1"}, name: "a"},
		"a digest":               {image: "a@" + long, want: manifest.Image{Repository: "a", Digest: long}, name: "a"},
		"a digest of SHA-512":    {image: "a@" + longer, want: manifest.Image{Repository: "a", Digest: longer}, name: "a"},
		"a port, a tag and a digest": {
			image: "mirror:5000/a:v1@" + long, want: manifest.Image{Repository: "mirror:5000/a", Tag: "v1", Digest: long}, name: "a",
		},
		"nothing":               {image: "", refused: true},
		"a tag alone":           {image: ":v1", refused: true},
		"a digest alone":        {image: "@" + long, refused: true},
		"a digest cut off":      {image: "a@sha256:00", refused: true},
		"capital letters":       {image: "Nginx", refused: true},
		"a space":               {image: "a b", refused: true},
		"a slash at the end":    {image: "mirror/", refused: true},
		"a slash and a tag":     {image: "/a:v1", refused: true},
		"two tags":              {image: "a:b:c", refused: true},
		"a protocol before all": {image: "https://mirror/a", refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := manifest.ParseImage(tc.image)
			if tc.refused {
				g.Expect(err).To(MatchError(ContainSubstring("parse the reference to an image")))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(got).To(Equal(tc.want))
			g.Expect(manifest.ImageName(tc.image)).To(Equal(tc.name))
		})
	}
}
