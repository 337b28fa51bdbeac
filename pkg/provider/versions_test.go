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
	catalogue := everyProvider()
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

func TestWhatTheInTreeProviderCannotDoIsRefused(t *testing.T) {
	catalogue := everyProvider()
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			profile, _ := catalogue.Lookup(name)
			description, refused := profile.Describe(), map[manifest.Operation]bool{}
			minor := provider.LastMinor
			if description.InTree != nil {
				minor = description.InTree.LastMinor + 1
			}
			for _, refusal := range provider.Refusals(description, minor) {
				for _, operation := range refusal.Operations {
					refused[operation] = true
				}
			}
			NewWithT(t).Expect(refused).To(HaveKey(manifest.Migrate))
			if description.InTree != nil {
				NewWithT(t).Expect(refused).To(And(HaveKey(manifest.Create), HaveKey(manifest.Upgrade)))
			}
		})
	}
}

func TestRangesOfRules(t *testing.T) {
	tests := map[string]struct {
		description provider.Description
		minor       int
		want        []manifest.Operation
	}{
		"at its start":          {ruled(32), 31, []manifest.Operation{manifest.Migrate}},
		"at its end":            {ruled(32), 32, []manifest.Operation{manifest.Migrate}},
		"before it":             {ruled(32), 30, nil},
		"behind it":             {ruled(32), 33, nil},
		"a rule without an end": {ruled(0), 99, []manifest.Operation{manifest.Migrate}},
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

func ruled(to int) provider.Description {
	return provider.Description{Rules: []manifest.VersionRule{
		{From: 31, To: to, Operations: []manifest.Operation{manifest.Migrate}, Reason: "because"},
	}}
}

func TestDescriptionsAreComplete(t *testing.T) {
	catalogue := everyProvider()
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
