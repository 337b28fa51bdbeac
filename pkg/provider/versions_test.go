package provider_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestEveryMinorIsThereOrRefusedByName(t *testing.T) {
	catalogue := provider.New()
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := catalogue.Lookup(name)
			there := 0
			for _, row := range provider.Matrix(profile) {
				facts := profile.Facts("1." + strconv.Itoa(row.Minor) + ".0")
				g.Expect(facts.VersionProblem).To(Equal(row.Problem))
				if row.Problem == "" {
					there++
					g.Expect(row.CCM).NotTo(BeEmpty())
					g.Expect(row.CSI).NotTo(BeEmpty())
				} else {
					g.Expect(row.Problem).To(ContainSubstring("1." + strconv.Itoa(row.Minor)))
				}
			}
			g.Expect(there).To(BeNumerically(">", 0))
		})
	}
}

func TestInTreeClustersHaveToMigrateFirst(t *testing.T) {
	tests := map[string]struct {
		description provider.Description
		minor       int
		want        []manifest.Operation
	}{
		"the last minor in-tree":               {provider.Description{InTree: &manifest.InTree{LastMinor: 29}}, 29, nil},
		"the first one without it":             {provider.Description{InTree: &manifest.InTree{LastMinor: 29}}, 30, []manifest.Operation{manifest.Create, manifest.Upgrade}},
		"a provider that was never in-tree":    {provider.Description{}, 30, []manifest.Operation{manifest.Migrate}},
		"a rule of the provider, at its start": {ruled(31, 32), 31, []manifest.Operation{manifest.Migrate}},
		"a rule of the provider, at its end":   {ruled(31, 32), 32, []manifest.Operation{manifest.Migrate}},
		"before it":                            {ruled(31, 32), 30, nil},
		"behind it":                            {ruled(31, 32), 33, nil},
		"a rule without an end":                {ruled(31, 0), 99, []manifest.Operation{manifest.Migrate}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []manifest.Operation
			for _, refusal := range provider.Refusals(test.description, test.minor) {
				got = append(got, refusal.Operations...)
			}
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}

func ruled(from, to int) provider.Description {
	return provider.Description{InTree: &manifest.InTree{LastMinor: 99}, Rules: []manifest.VersionRule{
		{From: from, To: to, Operations: []manifest.Operation{manifest.Migrate}, Reason: "because"},
	}}
}

func TestDescriptionsAreComplete(t *testing.T) {
	catalogue := provider.New()
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := catalogue.Lookup(name)
			description, facts := profile.Describe(), profile.Facts("1.30.0")
			g.Expect(description.Title).NotTo(BeEmpty())
			g.Expect(regexp.MustCompile(description.ProviderID).String()).To(HavePrefix("^"))
			g.Expect(description.NodeNames).To(HaveSuffix("."))
			g.Expect(description.LoadBalancers).To(HaveSuffix("."))
			g.Expect(catalogue.CanMigrate(name)).To(Equal(description.InTree != nil))
			if description.InTree != nil {
				g.Expect(facts.InTreeName).To(Equal(description.InTree.Name))
				g.Expect(facts.LastInTreeMinor).To(Equal(description.InTree.LastMinor))
			}
			var required []string
			for _, key := range description.Keys {
				g.Expect(key.Text).To(HaveSuffix("."))
				// A key of a file is written behind the file's.
				if key.Required && !strings.Contains(key.Name, ": ") {
					required = append(required, key.Name)
				}
			}
			g.Expect(slices.Sorted(slices.Values(facts.RequiredCloudConfigKeys))).To(Equal(slices.Sorted(slices.Values(required))))
			for _, hazard := range description.Hazards {
				g.Expect(hazard.Text).To(HaveSuffix("."))
				g.Expect(hazard.Link).To(HavePrefix("https://"))
			}
			for _, rule := range description.Rules {
				g.Expect(rule.Reason).To(HaveSuffix("."))
				g.Expect(rule.Link).To(HavePrefix("https://"))
				g.Expect(rule.Operations).NotTo(BeEmpty())
			}
		})
	}
}
