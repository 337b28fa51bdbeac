package aws

import (
	"fmt"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheCCMIsOfTheMinorOfTheCluster(t *testing.T) {
	g := NewWithT(t)
	for i, release := range rows() {
		minor := firstMinor + i
		g.Expect(release.tag).To(HavePrefix(fmt.Sprintf("v1.%d.", minor)))
		g.Expect(release.library).To(Or(Equal(minor), Equal(minor+1)))
	}
}

func TestDescription(t *testing.T) {
	g := NewWithT(t)
	description := Profile{}.Describe()
	expression := regexp.MustCompile(description.ProviderID)
	for providerID, matches := range map[string]bool{
		"aws:///eu-central-1a/i-0123456789abcdef0": true, "aws:///us-west-2-lax-1a/i-01234567": true, "aws:////i-01234567": true,
		"aws:///eu-central-1a/fargate-ip-10-0-0-1": true, "aws:///eu-central-1a/": false, "openstack:///i-01234567": false,
		"i-01234567": false,
	} {
		g.Expect(expression.MatchString(providerID)).To(Equal(matches), providerID)
	}
	for _, hazard := range description.Hazards {
		g.Expect(hazard.Link).To(HavePrefix("https://github.com/"), hazard.Text)
	}
	for _, rule := range description.Rules {
		g.Expect(rule.Operations).NotTo(BeEmpty())
		g.Expect(rule.Link).To(HavePrefix("https://github.com/"), rule.Reason)
	}
}
