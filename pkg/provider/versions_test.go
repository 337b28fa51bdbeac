package provider_test

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

func TestEveryMinorIsThereOrRefusedByName(t *testing.T) {
	catalogue := everyProvider()
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := catalogue.Lookup(name)
			there := 0
			for _, row := range versions.Matrix(profile) {
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

func TestRefusalsAreWrittenAsOtherMessages(t *testing.T) {
	catalogue := everyProvider()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		refusals := versions.Always()
		for minor := 1; minor <= versions.LastMinor; minor++ {
			refusals = append(refusals, versions.Refusals(profile, minor)...)
		}
		for _, refusal := range refusals {
			NewWithT(t).Expect(messages.Check(nil, nil, refusal.Reason, refusal.Sentence())).To(Succeed(), name)
		}
	}
}

func TestMinorsBeforeTheFirstAreShownWithTheirOwnRules(t *testing.T) {
	for name, want := range map[string][]string{
		"openstack": {"1.23 and older"},
		"vsphere":   {"1.21 and older", "1.22", "1.23"}, // 1.22 has rules of its own.
	} {
		profile, _ := everyProvider().Lookup(name)
		var rows []string
		for _, row := range versions.Older(profile) {
			rows = append(rows, row.Kubernetes())
			NewWithT(t).Expect(row.Refused).To(Equal(versions.Refusals(profile, row.Minor)))
		}
		NewWithT(t).Expect(rows).To(Equal(want))
	}
}

func TestRangesOfRules(t *testing.T) {
	rule := func(from, to int) manifest.VersionRule { return manifest.VersionRule{From: from, To: to} }
	tests := map[string]struct {
		rule   manifest.VersionRule
		minor  int
		covers bool
	}{
		"at its start":               {rule(31, 32), 31, true},
		"at its end":                 {rule(31, 32), 32, true},
		"before it":                  {rule(31, 32), 30, false},
		"behind it":                  {rule(31, 32), 33, false},
		"a rule without an end":      {rule(31, 0), 99, true},
		"a rule without a start":     {rule(0, 31), 1, true},
		"a rule without a range":     {rule(0, 0), 30, true},
		"behind one without a start": {rule(0, 31), 32, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(test.rule.Covers(test.minor)).To(Equal(test.covers)) })
	}
}

// The rules are the catalogue's: a minor has a CCM, or no one gets to it.
func TestOnlyMinorsWithACCMAreNotRefused(t *testing.T) {
	catalogue := everyProvider()
	for _, name := range catalogue.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := catalogue.Lookup(name)
			var there, inTree []int
			for _, row := range versions.Matrix(profile) {
				if row.Problem == "" {
					there = append(there, row.Minor)
				}
			}
			if tree := profile.Describe().InTree; tree != nil {
				inTree = slices.DeleteFunc(slices.Clone(there), func(minor int) bool { return minor > tree.LastMinor })
			}
			external, migrating := versions.Supported(profile)
			g.Expect(external).To(Equal(there))
			g.Expect(migrating).To(Equal(inTree))
		})
	}
}

// Where a CCM is numbered like Kubernetes, it is of its minor or the one before: that is what the version skew allows.
func TestCCMsAreWithinTheSkew(t *testing.T) {
	catalogue := builtIn()
	for _, name := range []string{"aws", "azure", "gcp", "openstack", "simcloud", "vsphere"} {
		t.Run(name, func(t *testing.T) {
			profile, _ := catalogue.Lookup(name)
			for _, row := range versions.Matrix(profile) {
				if row.Problem != "" {
					continue
				}
				numbers := strings.Split(strings.TrimPrefix(row.CCM, "v"), ".")
				of := numbers[1]
				if name == "gcp" {
					of = numbers[0]
				}
				NewWithT(t).Expect(strconv.Atoi(of)).To(BeElementOf(row.Minor, row.Minor-1), "%s for 1.%d", row.CCM, row.Minor)
			}
		})
	}
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
				for _, host := range description.InTree.Registries.Hosts {
					_, err := path.Match(host, "")
					g.Expect(err).NotTo(HaveOccurred(), host)
				}
			}
			for _, key := range description.Keys {
				g.Expect(key.Text).To(HaveSuffix("."))
				// A key of a file is written behind the file's.
				if key.Required && !strings.Contains(key.Name, ": ") {
					lacking := profile.Example()
					g.Expect(lacking).To(HaveKey(key.Name))
					delete(lacking, key.Name)
					g.Expect(provider.CloudConfigProblem(profile, lacking, false)).NotTo(BeEmpty(), "without "+key.Name)
				}
			}
			for _, hazard := range description.Hazards {
				g.Expect(hazard.Text).To(HaveSuffix("."))
				g.Expect(hazard.Link).To(HavePrefix("https://"))
			}
			for _, broken := range description.Broken {
				g.Expect(broken.Reason).To(HaveSuffix("."))
				g.Expect(broken.Link).To(HavePrefix("https://"))
			}
			for _, rule := range description.Rules {
				g.Expect(rule.Reason).To(HaveSuffix("."))
				g.Expect(rule.Link).To(HavePrefix("https://"))
				g.Expect(rule.Operations).NotTo(BeEmpty())
			}
		})
	}
}
