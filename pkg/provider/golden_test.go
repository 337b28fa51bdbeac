package provider_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

var update = flag.Bool("update", false, "write the golden files again")

// TestGolden shows what a change of the catalogue means for clusters: go test ./pkg/provider -update, then read the diff.
func TestGolden(t *testing.T) {
	tests := map[string]struct {
		provider string
		minor    int
	}{
		"Hetzner, first minor":                         {"hetzner", 24},
		"Hetzner, 1.30":                                {"hetzner", 30},
		"Hetzner, newest minor":                        {"hetzner", 36},
		"AWS, first minor":                             {"aws", 24},
		"AWS, 1.30":                                    {"aws", 30},
		"AWS, newest minor":                            {"aws", 36},
		"Azure, first minor":                           {"azure", 24},
		"Azure, a minor without in-tree provider":      {"azure", 30},
		"Azure, newest minor":                          {"azure", 36},
		"OpenStack, first minor":                       {"openstack", 24},
		"OpenStack, last minor in-tree":                {"openstack", 25},
		"OpenStack, first minor with all of its flags": {"openstack", 32},
		"OpenStack, newest minor":                      {"openstack", 36},
		"GCP, first minor":                             {"gcp", 26},
		"GCP, last minor in-tree":                      {"gcp", 30},
		"GCP, newest minor":                            {"gcp", 36},
		"simcloud":                                     {"simcloud", 30},
		"vSphere, first minor":                         {"vsphere", 28},
		"vSphere, first minor after the in-tree ones":  {"vsphere", 30},
		"vSphere, newest minor":                        {"vsphere", 36},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			profile, _ := builtIn().Lookup(test.provider)
			addons, err := profile.Render(input(test.provider, test.minor))
			g.Expect(err).NotTo(HaveOccurred())
			objects := append(append(addons.CCM.Objects, addons.CSI.Objects...), render.FenceObjects(profile.Identity())...)
			file := filepath.Join("testdata", fmt.Sprintf("%s-1.%d.yaml", test.provider, test.minor))
			got := document(g, objects)
			if *update {
				g.Expect(os.WriteFile(file, got, 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(got)).To(Equal(string(want)), "run go test ./pkg/provider -update and read the diff")
		})
	}
}

func document(g Gomega, objects []*unstructured.Unstructured) []byte {
	var out bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		g.Expect(err).NotTo(HaveOccurred())
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes()
}
