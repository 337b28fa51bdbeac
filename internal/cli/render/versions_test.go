package render_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

func TestVersionsShowsConditionsReasonsAndLinks(t *testing.T) {
	g := NewWithT(t)
	stdout, stderr, code := execute("versions", "--provider", "vsphere")
	g.Expect(stderr).To(BeEmpty())
	g.Expect(code).To(Equal(0))
	g.Expect(stdout).To(And(
		ContainSubstring("The last Kubernetes with the in-tree provider vsphere is 1.29."),
		MatchRegexp(`(?m)^1\.21 and older +- +- +external: create, upgrade \[1\]; in-tree: migrate \[2\]$`),
		MatchRegexp(`(?m)^1\.22 +- +- +create, migrate \[3\]; external: upgrade \[4\]; external: create, upgrade \[1\]; in-tree: migrate \[2\]$`),
		MatchRegexp(`(?m)^1\.27 +- +- +external: create, upgrade \[1\]; in-tree: migrate \[2\]$`),
		MatchRegexp(`(?m)^1\.29 +v1\.29\.0 +v3\.3\.1 +-$`),
		MatchRegexp(`(?m)^1\.30 +v1\.30\.2 +v3\.3\.1 +in-tree: create, upgrade, migrate \[5\]$`),
		MatchRegexp(`(?m)^\[2\] .* \(https://github\.com/kubermatic/kubermatic/issues/13719\)\.$`),
		MatchRegexp(`(?m)^\* migrating: upgrade, patch\. .* \(https://`),
		MatchRegexp(`(?m)^\* downgrade to 1\.30 or older\. .* \(https://`),
	))
}

func TestVersionsPrintsTheTableForPrograms(t *testing.T) {
	for format, read := range map[string]func([]byte, any) error{
		"json": json.Unmarshal, "yaml": func(data []byte, into any) error { return yaml.Unmarshal(data, into) },
	} {
		t.Run(format, func(t *testing.T) {
			g := NewWithT(t)
			stdout, _, code := execute("versions", "--provider", "aws", "-o", format)
			g.Expect(code).To(Equal(0))
			var got versions.Table
			g.Expect(read([]byte(stdout), &got)).To(Succeed())
			profile, _ := provider.New().Lookup("aws")
			g.Expect(got).To(Equal(versions.TableOf("aws", profile)))
		})
	}
}

func TestVersionsRefusesWrongFlags(t *testing.T) {
	for name, arguments := range map[string][]string{
		"no provider":                     {"versions"},
		"a provider that no one knows":    {"versions", "--provider", "nimbus"},
		"a format that no one knows":      {"versions", "--provider", "aws", "-o", "xml"},
		"an argument that no one expects": {"versions", "--provider", "aws", "1.30"},
		"a flag that no one knows":        {"versions", "--nimbus"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, code := execute(arguments...)
			NewWithT(t).Expect(code).To(Equal(2))
		})
	}
}
