package webhook

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTheProviderSpecIsStoredAsTheWebhookMarshalsIt(t *testing.T) {
	const stored = `{"caPublicKey":"","cloudProvider":"simcloud","cloudProviderSpec":{"any":["thing"],"n":1},"operatingSystem":"",` +
		`"operatingSystemSpec":null,"sshPublicKeys":null}`
	for name, test := range map[string]struct{ before, after string }{
		"what it does not know goes, and what has no value comes": {
			before: `{"cloudProvider":"simcloud","cloudProviderSpec":{"any":["thing"],"n":1},"retired":true}`, after: stored,
		},
		"what it has stored stays":        {before: stored, after: stored},
		"a template without providerSpec": {before: ``, after: `null`},
		"an empty one": {
			before: `{}`,
			after:  `{"caPublicKey":"","cloudProvider":"","cloudProviderSpec":null,"operatingSystem":"","operatingSystemSpec":null,"sshPublicKeys":null}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			spec := `{"template":{"spec":{}}}`
			if test.before != "" {
				spec = `{"template":{"spec":{"providerSpec":{"value":` + test.before + `}}}}`
			}
			object := decode(g, `{"spec":`+spec+`}`)
			g.Expect(marshalProviderSpec(object)).To(Succeed())
			value, _, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec", "providerSpec", "value")
			g.Expect(err).NotTo(HaveOccurred())
			after, err := json.Marshal(value)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(after)).To(MatchJSON(test.after))
		})
	}
}
