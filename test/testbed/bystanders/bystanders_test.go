package bystanders_test

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bystanders"
)

func TestSeedSaysWhoIsThere(t *testing.T) {
	g := NewWithT(t)
	g.Expect(bystanders.New(1, "alpha")).To(Equal(bystanders.New(1, "alpha")), "a run can be repeated")
	g.Expect(bystanders.New(1, "alpha")).NotTo(Equal(bystanders.New(1, "beta")), "clusters differ")
	g.Expect(bystanders.New(1, "alpha")).NotTo(Equal(bystanders.New(2, "alpha")), "runs differ")
}

func TestEachClusterHasFewAndAnImageThatIsANameAlone(t *testing.T) {
	g := NewWithT(t)
	met := map[string]bool{}
	for seed := range uint64(100) {
		objects := bystanders.New(seed, "alpha")
		g.Expect(len(objects)).To(BeNumerically("<=", 12))
		g.Expect(objects[0].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image).To(Equal("nginx"))
		for _, object := range objects {
			met[object.GetName()] = true
		}
	}
	g.Expect(met).To(HaveLen(len(names(g, bystanders.All(1)))+1), "chance comes to each shape")
}

// names fails when two have the same one.
func names(g Gomega, objects []client.Object) map[string]bool {
	names := map[string]bool{}
	for _, object := range objects {
		g.Expect(names).NotTo(HaveKey(object.GetName()))
		names[object.GetName()] = true
	}
	return names
}
