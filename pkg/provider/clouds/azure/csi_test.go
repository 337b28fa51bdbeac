package azure

import (
	"testing"

	. "github.com/onsi/gomega"
)

// Rights of the sidecars are those of their releases, by the number and not by its text.
func TestRightsOfTheProvisioner(t *testing.T) {
	for provisioner, want := range map[string][]string{
		"v5.3.0":  nil,
		"v6.0.0":  {"volumeattributesclasses"},
		"v6.1.1":  {"volumeattributesclasses"},
		"v6.2.0":  {"volumeattributesclasses", "volumesnapshots"},
		"v6.10.0": {"volumeattributesclasses", "volumesnapshots"},
		"v10.0.0": {"volumeattributesclasses", "volumesnapshots"},
	} {
		t.Run(provisioner, func(t *testing.T) {
			var resources []string
			for _, rule := range provisionerRules(driverRelease{provisioner: provisioner}) {
				resources = append(resources, rule.Resources...)
			}
			NewWithT(t).Expect(resources).To(Equal(want))
		})
	}
}
