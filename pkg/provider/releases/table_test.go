package releases_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/releases"
)

func TestARowIsFoundByTheMinor(t *testing.T) {
	deleted := func(minor int) string {
		if minor == 28 {
			return "the images for 1.28 were deleted"
		}
		return ""
	}
	table := releases.Table[string]{CCM: "Nimbus", First: 29, Rows: []string{"v1", "v2", "v3", "v4"}, Empty: []int{31}, Why: deleted}
	for name, test := range map[string]struct {
		version, row string
		minor        int
		problem      string
	}{
		"the first":              {"1.29.0", "v1", 29, ""},
		"one behind it":          {"v1.30.14", "v2", 30, ""},
		"one that is empty":      {"1.31.0", "", 0, "no Nimbus cloud-controller-manager for Kubernetes 1.31 in the catalogue"},
		"the last":               {"1.32.0", "v4", 32, ""},
		"before the first":       {"1.27.1", "", 0, "no Nimbus cloud-controller-manager for Kubernetes 1.27 in the catalogue, which covers 1.29 to 1.32"},
		"behind the last":        {"1.33.0", "", 0, "no Nimbus cloud-controller-manager for Kubernetes 1.33 in the catalogue, which covers 1.29 to 1.32"},
		"one with a reason":      {"1.28.15", "", 0, "the images for 1.28 were deleted"},
		"a version that is none": {"1.30", "", 0, `"1.30" is not a version of Kubernetes`},
		"another major":          {"2.30.0", "", 0, `"2.30.0" is not a version of Kubernetes`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			row, minor, err := table.For(test.version)
			g.Expect(row).To(Equal(test.row))
			g.Expect(minor).To(Equal(test.minor))
			if test.problem == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(table.Problem(test.version)).To(BeEmpty())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.problem)))
			g.Expect(table.Problem(test.version)).To(Equal(err.Error()))
		})
	}
}
