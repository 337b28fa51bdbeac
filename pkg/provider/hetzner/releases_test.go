package hetzner

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/version"
)

// TestNoReleaseIsBroken holds what the hazards say of releases.
func TestNoReleaseIsBroken(t *testing.T) {
	g := NewWithT(t)
	for _, release := range releases() {
		g.Expect(version.MustParseSemantic(release.ccm).AtLeast(version.MustParseSemantic("1.30.1"))).To(BeTrue(), release.ccm)
		g.Expect(version.MustParseSemantic(release.csi).AtLeast(version.MustParseSemantic("2.19.0"))).To(BeTrue(), release.csi)
		g.Expect(release.csi).NotTo(Equal("v2.20.1"))
	}
}

func TestDescriptionIsComplete(t *testing.T) {
	g := NewWithT(t)
	description := Profile{}.Describe()
	g.Expect(description.InTree).To(BeNil())
	g.Expect(description.Keys).To(HaveLen(len(settings())))
	link, sentence := MatchRegexp(`^https://github\.com/\S+$`), MatchRegexp(`^[A-Z].*\.$`)
	for _, hazard := range description.Hazards {
		g.Expect(hazard.Link).To(link)
		g.Expect(hazard.Text).To(sentence)
	}
	for _, rule := range description.Rules {
		g.Expect(rule.Link).To(link)
		g.Expect(rule.Reason).To(sentence)
	}
	for _, setting := range settings() {
		g.Expect(setting.text).To(sentence)
		_, err := regexp.Compile(setting.form)
		g.Expect(err).NotTo(HaveOccurred())
	}
}
