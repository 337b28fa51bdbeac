package provider_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestTheDefaultClassIsOneOfTheDriver(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		wanted := profile.Facts(fmt.Sprintf("1.%d.0", minor)).DefaultClass
		if name == cumulusName {
			g.Expect(wanted.Name).To(BeEmpty(), "it has no class")
			return
		}
		csi, found := rendered(g, name, profile, minor).CSI, false
		for _, object := range csi.Objects {
			if object.GetKind() != "StorageClass" {
				continue
			}
			class := &storagev1.StorageClass{}
			decode(g, object, class)
			g.Expect(class.Annotations).To(BeEmpty(), "whether it is the default is not rendered")
			if class.Name == wanted.Name {
				found = true
				g.Expect(class.Provisioner).To(Equal(csi.Driver))
			}
		}
		g.Expect(found).To(BeTrue(), wanted.Name)
		if tree := profile.Describe().InTree; wanted.Plugin != "" {
			g.Expect(tree.Plugins).To(HaveKeyWithValue(wanted.Plugin, csi.Driver))
		} else if tree != nil {
			g.Expect(tree.Plugins).To(BeEmpty())
		}
	})
}

// A driver with a csi-snapshotter brings the definitions and the controller, once, and no other does.
func TestSnapshotsComeWithTheSidecar(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		snapshotters, shared := 0, map[string]int{}
		for _, object := range rendered(g, name, profile, minor).CSI.Objects {
			if manifest.Shared(object) {
				shared[object.GetKind()]++
				continue
			}
			if pod := podOf(g, object); pod != nil {
				for _, container := range pod.Spec.Containers {
					if container.Name == "csi-snapshotter" {
						snapshotters++
					}
				}
			}
		}
		if slices.Contains([]string{"hetzner", "simcloud", cumulusName}, name) {
			g.Expect(snapshotters).To(BeZero())
			g.Expect(shared).To(BeEmpty())
			return
		}
		g.Expect(snapshotters).To(Equal(map[bool]int{true: 2, false: 1}[name == "azure"]))
		g.Expect(shared).To(
			And(HaveKeyWithValue("CustomResourceDefinition", 3), HaveKeyWithValue("Deployment", 1), HaveKeyWithValue("ServiceAccount", 1)),
		)
	})
}

func TestSnapshotDefinitions(t *testing.T) {
	forEach(t, func(g Gomega, name string, profile provider.Profile, minor int) {
		for _, object := range rendered(g, name, profile, minor).CSI.Objects {
			if object.GetKind() == "CustomResourceDefinition" {
				expectDefinition(g, object, minor)
			}
		}
	})
}

func expectDefinition(g Gomega, object *unstructured.Unstructured, minor int) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	decode(g, object, definition)
	g.Expect(definition.Annotations).To(
		HaveKeyWithValue("api-approved.kubernetes.io", HavePrefix("https://github.com/kubernetes-csi/")),
	)
	g.Expect(definition.Spec.Versions).To(HaveLen(1))
	version := definition.Spec.Versions[0]
	g.Expect(version.Served && version.Storage).To(BeTrue())
	g.Expect(version.AdditionalPrinterColumns).NotTo(BeEmpty())
	text := fmt.Sprint(object.Object)
	if kind := definition.Spec.Names.Kind; kind != "VolumeSnapshotClass" {
		g.Expect(version.Subresources.Status).NotTo(BeNil(), kind)
		g.Expect(strings.Contains(text, "self == oldSelf")).To(Equal(minor >= 25), "before, the API server drops rules")
	}
}
