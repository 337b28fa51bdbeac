package addons_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// A minor that the catalogue gets needs its kube-apiserver for make conformance-addons.
func TestMakefileNamesAKubeAPIServerOfEveryMinor(t *testing.T) {
	g := NewWithT(t)
	makefile, err := os.ReadFile("../../../Makefile")
	g.Expect(err).NotTo(HaveOccurred())
	line := regexp.MustCompile(`(?m)^CATALOGUE_RELEASES \?= (.*)$`).FindStringSubmatch(string(makefile))
	g.Expect(line).NotTo(BeNil())
	want := 31
	for release := range strings.FieldsSeq(line[1]) {
		g.Expect(manifest.Minor(release)).To(Equal(want))
		want++
	}
	g.Expect(want).To(Equal(versions.LastMinor + 1))
}
