package hetzner

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

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
