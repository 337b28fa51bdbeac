package versions_test

import (
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

const (
	inTree    = manifest.WhileInTree
	migrating = manifest.WhileMigrating
	external  = manifest.WhileExternal
)

var builtIn = sync.OnceValue(provider.New)

// change from one state to another; a version that is empty before means that the cluster is created.
type change struct {
	provider string
	from     string
	was      manifest.Condition
	to       string
	becomes  manifest.Condition
	// says has a part of each sentence of the refusal, in its order; none means that it is not refused.
	says []string
}

// state of a cluster of a built-in provider, or of one that the catalogue does not have.
func state(provider, version string, condition manifest.Condition) *versions.State {
	made := &versions.State{Version: version, Condition: condition}
	if profile, known := builtIn().Lookup(provider); known {
		made.Provider = profile
	}
	return made
}

func judge(t *testing.T, changes map[string]change) {
	t.Helper()
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var before *versions.State
			if c.from != "" {
				before = state(c.provider, c.from, c.was)
			}
			refusals := versions.Judge(before, state(c.provider, c.to, c.becomes))
			g.Expect(refusals).To(HaveLen(len(c.says)), "%v", refusals)
			for i, refusal := range refusals {
				g.Expect(refusal.Reason).To(ContainSubstring(c.says[i]))
				g.Expect(refusal.Link).To(HavePrefix("https://"))
				g.Expect(refusal.Operations).NotTo(BeEmpty())
			}
		})
	}
}

func TestTheManualsRulesForVSphere(t *testing.T) {
	const noDriver, deleted = "does not support 1.22", "were deleted"
	judge(t, map[string]change{
		"a new vSphere cluster with 1.22 is refused": {
			"vsphere",
			"",
			"",
			"1.22.4",
			external,
			[]string{noDriver, deleted},
		},
		"a new one that is in-tree with 1.22 is refused": {"vsphere", "", "", "1.22.4", inTree, []string{noDriver}},
		"a migrated vSphere cluster is not upgraded to 1.22": {
			"vsphere",
			"1.21.9",
			external,
			"1.22.4",
			external,
			[]string{noDriver, deleted},
		},
		"a vSphere cluster with 1.22 does not migrate": {
			"vsphere",
			"1.22.4",
			inTree,
			"1.22.4",
			migrating,
			[]string{noDriver, deleted},
		},
		"one that is in-tree may be upgraded to 1.22":               {"vsphere", "1.21.9", inTree, "1.22.4", inTree, nil},
		"one that is in-tree may go on from there":                  {"vsphere", "1.22.4", inTree, "1.23.4", inTree, nil},
		"without images a vSphere cluster with 1.25 is not created": {"vsphere", "", "", "1.25.16", external, []string{deleted}},
		"without images a vSphere cluster with 1.25 does not migrate": {
			"vsphere",
			"1.25.16",
			inTree,
			"1.25.16",
			migrating,
			[]string{"upgrade with the in-tree provider to 1.28"},
		},
		"a vSphere cluster that is to migrate may be created in-tree": {"vsphere", "", "", "1.28.15", inTree, nil},
	})
}

func TestLastInTreeMinors(t *testing.T) {
	for name, last := range map[string][2]string{
		"openstack": {"1.25.16", "1.26.15"}, "aws": {"1.26.15", "1.27.16"}, "azure": {"1.29.14", "1.30.14"},
		"vsphere": {"1.29.14", "1.30.14"}, "gcp": {"1.30.14", "1.31.14"},
	} {
		t.Run(name, func(t *testing.T) {
			minor := last[0][:strings.LastIndex(last[0], ".")]
			refused := []string{"Kubernetes " + minor + " is the last with the in-tree provider"}
			judge(t, map[string]change{
				"the last minor may be in-tree":                  {name, "", "", last[0], inTree, nil},
				"the last minor migrates":                        {name, last[0], inTree, last[0], migrating, nil},
				"the next is not created in-tree":                {name, "", "", last[1], inTree, refused},
				"the next is created external":                   {name, "", "", last[1], external, nil},
				"no one in-tree is upgraded to the next":         {name, last[0], inTree, last[1], inTree, refused},
				"who has migrated is upgraded to the next":       {name, last[0], external, last[1], external, nil},
				"the next does not migrate":                      {name, last[1], inTree, last[1], migrating, refused},
				"nothing else of a cluster beyond it is refused": {name, last[1], inTree, last[1], inTree, nil},
				"a patch of a cluster beyond it is not refused":  {name, last[1], inTree, last[1] + "1", inTree, nil},
				"a mistake beyond it may be taken back":          {name, last[1], inTree, last[0], inTree, nil},
				"the feature does not hide an upgrade beyond it": {
					name,
					last[0],
					inTree,
					last[1],
					migrating,
					append([]string{"in the middle of a migration"}, refused...),
				},
			})
		})
	}
}

func TestSkewOfTheCCM(t *testing.T) {
	judge(t, map[string]change{
		"no external cluster is created with a minor without a CCM": {
			"openstack",
			"",
			"",
			"1.37.0",
			external,
			[]string{"There is no OpenStack cloud-controller-manager for Kubernetes 1.37"},
		},
		"none is upgraded to it": {
			"openstack",
			"1.36.2",
			external,
			"1.37.0",
			external,
			[]string{"Kubernetes 1.37"},
		},
		"none migrates in it": {
			"openstack",
			"1.23.17",
			inTree,
			"1.23.17",
			migrating,
			[]string{"Kubernetes 1.23"},
		},
		"an in-tree cluster needs no CCM":                       {"openstack", "1.22.17", inTree, "1.23.17", inTree, nil},
		"an older CCM within the skew will do":                  {"gcp", "1.30.14", external, "1.31.14", external, nil},
		"a minor without a CCM may be left as it is":            {"openstack", "1.37.0", external, "1.37.1", external, nil},
		"a minor without a CCM may be left by more than a step": {"openstack", "1.38.0", external, "1.36.2", external, nil},
		"but not for another one": {
			"openstack",
			"1.38.0",
			external,
			"1.39.0",
			external,
			[]string{"Kubernetes 1.39"},
		},
		"a provider gives its own reason where it has one": {"hetzner", "", "", "1.23.17", external, []string{"panic"}},
		"a provider that no one knows is for preflight":    {"nimbus", "", "", "1.23.17", external, nil},
	})
}

func TestStepsOfAnUpgrade(t *testing.T) {
	const step, back = "skips none", "does not go back"
	judge(t, map[string]change{
		"to the next minor":                        {"openstack", "1.30.14", external, "1.31.14", external, nil},
		"the same version in another spelling":     {"openstack", "1.30.14", migrating, "v1.30.14", migrating, nil},
		"a minor is not skipped":                   {"openstack", "1.30.14", external, "1.32.11", external, []string{step}},
		"nor by an in-tree cluster":                {"vsphere", "1.25.16", inTree, "1.28.15", inTree, []string{step}},
		"nor by a provider that no one knows":      {"nimbus", "1.25.16", inTree, "1.28.15", inTree, []string{step}},
		"nor backwards":                            {"openstack", "1.36.2", external, "1.34.6", external, []string{step}},
		"nothing goes back to what cannot read it": {"openstack", "1.30.14", external, "1.29.14", external, []string{back}},
		"from 1.32 on it may go back by one":       {"openstack", "1.32.11", external, "1.31.14", external, nil},
		"a patch may go back":                      {"openstack", "1.30.14", external, "1.30.13", external, nil},
		"a version that cannot be read is refused": {
			"openstack",
			"1.30.14",
			external,
			"1.030.1",
			external,
			[]string{"is not a version of Kubernetes"},
		},
		"a version that could not be read may be left": {"openstack", "1.030.1", external, "1.30.14", external, nil},
	})
}

func TestPatchReleasesCount(t *testing.T) {
	const crashes = "1.31.0 to 1.31.2 crashes"
	changes := map[string]change{
		"the first release without the fault will do":   {"gcp", "1.30.14", external, "1.31.3", external, nil},
		"a patch to a release with it is refused":       {"gcp", "1.31.0", external, "v1.31.2", external, []string{crashes}},
		"a patch out of it is not":                      {"gcp", "1.31.2", external, "1.31.4", external, nil},
		"the same patch of another minor is not":        {"gcp", "1.31.4", external, "1.32.1", external, nil},
		"back into it is refused":                       {"gcp", "1.32.11", external, "1.31.1", external, []string{crashes}},
		"a cluster that is there may be described":      {"gcp", "", "", "1.31.1", external, nil},
		"a minor with bad releases excuses no skipping": {"gcp", "1.31.4", external, "1.33.4", external, []string{"skips none"}},
	}
	for _, name := range []string{"gcp", "aws", "openstack"} {
		changes["into a release that crashes, "+name] = change{name, "1.30.14", external, "1.31.1", external, []string{crashes}}
	}
	judge(t, changes)
}

func TestNothingIsUpgradedInTheMiddleOfAMigration(t *testing.T) {
	const middle = "in the middle of a migration"
	judge(t, map[string]change{
		"not to the next minor": {
			"openstack",
			"1.24.17",
			migrating,
			"1.25.16",
			migrating,
			[]string{middle},
		},
		"not to the next patch": {
			"openstack",
			"1.25.15",
			migrating,
			"1.25.16",
			migrating,
			[]string{middle},
		},
		"not together with its start": {"openstack", "1.24.17", inTree, "1.25.16", migrating, []string{middle}},
		"not even by a patch":         {"openstack", "1.25.15", inTree, "1.25.16", migrating, []string{middle}},
		"not together with its end": {
			"openstack",
			"1.25.16",
			migrating,
			"1.26.15",
			external,
			[]string{middle},
		},
		"the old minor counts when both change": {
			"vsphere",
			"1.27.16",
			inTree,
			"1.28.15",
			migrating,
			[]string{middle, "images"},
		},
		"the migration itself is fine":            {"openstack", "1.25.16", inTree, "1.25.16", migrating, nil},
		"so is everything else while it runs":     {"openstack", "1.25.16", migrating, "1.25.16", migrating, nil},
		"before its start the version may change": {"openstack", "1.24.17", inTree, "1.25.16", inTree, nil},
		"a provider that was never in-tree does not migrate": {
			"hetzner",
			"1.30.14",
			inTree,
			"1.30.14",
			migrating,
			[]string{"never a part of Kubernetes"},
		},
	})
}

func TestRulesForEveryProviderAreComplete(t *testing.T) {
	g := NewWithT(t)
	var refused []string
	for _, refusal := range versions.Always() {
		g.Expect(refusal.Reason).To(HaveSuffix("."))
		g.Expect(refusal.Link).To(HavePrefix("https://"))
		refused = append(refused, refusal.String())
	}
	g.Expect(refused).To(Equal([]string{
		"migrating: upgrade, patch",
		"skip",
		"external: upgrade, patch to 1.31 before 1.31.3",
		"downgrade to 1.30 or older",
		"external: create, upgrade",
		"in-tree: migrate",
	}))
}
