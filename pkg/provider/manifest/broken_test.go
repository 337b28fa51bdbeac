package manifest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestBrokenReleases(t *testing.T) {
	const image = "registry.example.com/ccm"
	broken := manifest.BrokenRelease{Image: image, Before: "v1.30.1", Tags: []string{"v1.31.0"}}
	for name, test := range map[string]struct {
		broken     manifest.BrokenRelease
		image, tag string
		has        bool
	}{
		"an older one":                      {broken, image, "v1.30.0", true},
		"a much older one":                  {broken, image, "v1.9.0", true},
		"an older one without its v":        {broken, image, "1.30.0", true},
		"the first that works":              {broken, image, "v1.30.1", false},
		"a newer one":                       {broken, image, "v1.30.2", false},
		"one by name":                       {broken, image, "v1.31.0", true},
		"another image":                     {broken, "registry.example.com/csi", "v1.30.0", false},
		"a tag that is no version":          {broken, image, "ours", false},
		"without an end only those by name": {manifest.BrokenRelease{Image: image, Tags: []string{"v1.31.0"}}, image, "v1.30.0", false},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(test.broken.Has(test.image, test.tag)).To(Equal(test.has)) })
	}
}
