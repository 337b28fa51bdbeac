package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bystanders"
)

// What the testbed's clusters run besides is what a real API server takes, or it says nothing about real clusters.
func TestAPIServerTakesEveryBystander(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	user := takeUserCluster(t)
	for seed := range uint64(30) {
		for _, object := range bystanders.All(seed) {
			g.Expect(user.client.Create(t.Context(), object, client.DryRunAll)).To(Succeed(), "seed %d, %s", seed, object.GetName())
		}
	}
}

func TestAPIServerTakesNoImageThatIsEmpty(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	user := takeUserCluster(t)
	deployment := bystanders.New(1, alpha)[0].(*appsv1.Deployment)
	deployment.Spec.Template.Spec.Containers[0].Image = ""
	err := user.client.Create(t.Context(), deployment, client.DryRunAll)
	g.Expect(err).To(MatchError(ContainSubstring("spec.template.spec.containers[0].image: Required value")))
}
