package leadermigration_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
)

type planCase struct {
	plan  leadermigration.Plan
	rules []leadermigration.Rule
	says  string
}

func (tc planCase) check(t *testing.T) {
	g := NewWithT(t)
	artifacts, violations := leadermigration.Render(tc.plan)
	var rules []leadermigration.Rule
	for _, violation := range violations {
		rules = append(rules, violation.Rule)
	}
	g.Expect(rules).To(Equal(tc.rules), "%v", violations)
	explanation := leadermigration.Explain(tc.plan)
	g.Expect(explanation.Violations).To(Equal(violations))
	if leadermigration.HasErrors(violations) {
		g.Expect(artifacts).To(Equal(leadermigration.Artifacts{}))
		g.Expect(explanation.Steps).To(BeEmpty())
	} else {
		g.Expect(artifacts.Files).To(HaveLen(2))
		g.Expect(artifacts.Files[kcm]).NotTo(BeEmpty())
		g.Expect(explanation.Steps).NotTo(BeEmpty())
	}
	if tc.says != "" {
		g.Expect(inOneLine(violations[0])).To(ContainSubstring(tc.says))
	}
}

func release(text string) leadermigration.Version { return at(kcm, text, nil).Version }

func TestPlans(t *testing.T) {
	for name, tc := range map[string]planCase{
		"from one minor to the next": {plan: leadermigration.Plan{From: release("1.29.3"), To: release("1.30.1"), Provider: "gce"}},
		"within one minor, with a warning": {
			plan:  leadermigration.Plan{From: release("1.30.14"), To: release("1.30.14"), Provider: "simcloud"},
			rules: []leadermigration.Rule{leadermigration.OneManager}, says: "In 1.30 the lock runs both",
		},
		"over two minors": {
			plan:  leadermigration.Plan{From: release("1.27"), To: release("1.29"), Provider: "gce"},
			rules: []leadermigration.Rule{leadermigration.NextMinor, leadermigration.BesideArmedKCM}, says: "next seen in",
		},
		"backwards": {
			plan:  leadermigration.Plan{From: release("1.30"), To: release("1.29"), Provider: "gce"},
			rules: []leadermigration.Rule{leadermigration.NextMinor, leadermigration.BesideArmedKCM},
			says:  "From 1.30 to 1.29 is no hand-over",
		},
		"beyond the tables": {
			plan:  leadermigration.Plan{From: release("1.30"), To: release("1.38"), Provider: "gce"},
			rules: []leadermigration.Rule{leadermigration.KnownVersion}, says: "1.38 is not known",
		},
		"after the provider left KCM": {
			plan:  leadermigration.Plan{From: release("1.27"), To: release("1.28"), Provider: "aws"},
			rules: []leadermigration.Rule{leadermigration.InTree}, says: "1.26 is the last",
		},
		"with a CCM that ignores the lock": {
			plan:  leadermigration.Plan{From: release("1.28"), To: release("1.29"), Provider: "azure"},
			rules: []leadermigration.Rule{leadermigration.HonouredLock}, says: "ignores them",
		},
		"with a CCM that no one knows": {
			plan:  leadermigration.Plan{From: release("1.28"), To: release("1.29"), Provider: "hetzner"},
			rules: []leadermigration.Rule{leadermigration.HonouredLock}, says: "nothing is known",
		},
		"without a provider": {
			plan:  leadermigration.Plan{From: release("1.28"), To: release("1.29")},
			rules: []leadermigration.Rule{leadermigration.HonouredLock}, says: "Name the provider",
		},
		"with node IPAM, where CCM has it": {plan: leadermigration.Plan{From: release("1.29"), To: release("1.30"), Provider: "gce", NodeIPAM: true}},
		"with node IPAM, where CCM has none": {
			plan:  leadermigration.Plan{From: release("1.24"), To: release("1.25"), Provider: "openstack", NodeIPAM: true},
			rules: []leadermigration.Rule{leadermigration.RunsSomewhere}, says: "ships no node IPAM loop",
		},
		"with an API server that is too old for CCM": {
			plan:  leadermigration.Plan{From: release("1.29"), To: release("1.30"), Provider: "gce", APIServer: release("1.29.0")},
			rules: []leadermigration.Rule{leadermigration.Skew}, says: "newer than kube-apiserver",
		},
		"with the name of a main lock": {
			plan:  leadermigration.Plan{From: release("1.29"), To: release("1.30"), Provider: "gce", LockName: "cloud-controller-manager"},
			rules: []leadermigration.Rule{leadermigration.UniqueName}, says: "Another Lease",
		},
	} {
		t.Run(name, tc.check)
	}
}

func TestNodeIPAMMovesWithTheLock(t *testing.T) {
	g := NewWithT(t)
	artifacts, _ := leadermigration.Render(
		leadermigration.Plan{From: leadermigration.OfMinor(29), To: leadermigration.OfMinor(30), Provider: "gce", NodeIPAM: true},
	)
	lock, err := leadermigration.Parse([]byte(artifacts.Files[ccm]), 30)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lock.Loops()).To(ContainElement(leadermigration.NodeIPAMLoop))
	g.Expect(artifacts.KCMAfter).To(ContainElement(leadermigration.Flag{Name: "--controllers", Value: "*,-node-ipam-controller"}))
}

func TestKCMLosesWhatItsNextMinorRejects(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to int
		want     []string
	}{
		"the gate of the lock before 1.27": {25, 26, []string{"--enable-leader-migration", "--leader-migration-config", "ControllerManagerLeaderMigration"}},
		"nothing more at 1.30":             {29, 30, []string{"--enable-leader-migration", "--leader-migration-config"}},
	} {
		t.Run(name, func(t *testing.T) {
			artifacts, _ := leadermigration.Render(
				leadermigration.Plan{From: leadermigration.OfMinor(tc.from), To: leadermigration.OfMinor(tc.to), Provider: inTreeAt(tc.from)},
			)
			NewWithT(t).Expect(artifacts.KCMRemove).To(Equal(tc.want))
		})
	}
}

func TestExplanationNamesWhatBreaksLater(t *testing.T) {
	g := NewWithT(t)
	explanation := leadermigration.Explain(
		leadermigration.Plan{From: leadermigration.OfMinor(29), To: leadermigration.OfMinor(30), Provider: "gce"},
	)
	g.Expect(explanation.Provider.Name).To(Equal("gce"))
	g.Expect(explanation.Why).To(ContainElement(ContainSubstring("names route-controller, service-controller")))
	for _, later := range []string{
		"1.33: kube-apiserver does not start with flag --cloud-provider, --cloud-config.",
		"1.33: kube-controller-manager does not start with feature gate DisableCloudProviders, DisableKubeletCloudCredentialProviders.",
		"1.36: kube-controller-manager is known to be bad",
		"1.37: kube-controller-manager does not start with flag --concurrent-service-syncs.",
		"1.37: kube-controller-manager does not start with name in --controllers cloud-node-lifecycle",
	} {
		g.Expect(explanation.Later).To(ContainElement(HavePrefix(later)))
	}
}
