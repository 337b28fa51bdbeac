package gcp_test

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/gcp"
)

func TestDescription(t *testing.T) {
	g := NewWithT(t)
	description, facts := gcp.Profile{}.Describe(), gcp.Profile{}.Facts("1.30.14")
	pattern := regexp.MustCompile(description.ProviderID)
	g.Expect(pattern.MatchString("gce://alpha/europe-west3-a/worker-1")).To(BeTrue())
	g.Expect(pattern.MatchString("gce://alpha/europe-west3-a")).To(BeFalse())
	g.Expect(pattern.MatchString("gce:///europe-west3-a/worker-1")).To(BeFalse())
	g.Expect(description.InTree.Name).To(Equal(facts.InTreeName))
	g.Expect(description.InTree.LastMinor).To(Equal(facts.LastInTreeMinor))
	for _, hazard := range description.Hazards {
		g.Expect(hazard.Text).To(HaveSuffix("."))
		g.Expect(hazard.Link).To(HavePrefix("https://"))
	}
	for _, rule := range description.Rules {
		g.Expect(rule.Operations).NotTo(BeEmpty())
		g.Expect(rule.Link).To(HavePrefix("https://"))
	}
}
