package integration_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
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

// No one asked for them: they stand in no migration's way, and no sentence is about them.
func TestBystandersAreNoFinding(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.playKCM(kcm + "-r1-0")
	all := bystanders.All(uint64(time.Now().UnixNano()))
	g.Expect(bystanders.Create(t.Context(), w.user.client, all)).To(Succeed())
	t.Cleanup(func() { w.removeBystanders(all) })
	w.flip()
	w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil })
	g.Expect(w.status().Preflight).NotTo(BeNil())
	for _, finding := range w.status().Preflight.Findings {
		g.Expect(finding.Message).NotTo(ContainSubstring("bystander"))
		g.Expect(finding.Objects).NotTo(ContainElement(ContainSubstring("bystander")), finding.ID)
	}
}

// removeBystanders takes the finalizers of volumes along, which only KCM would.
func (w *world) removeBystanders(all []client.Object) {
	g, ctx := NewWithT(w.t), context.Background()
	for _, object := range all {
		found := object.DeepCopyObject().(client.Object)
		g.Expect(client.IgnoreNotFound(w.user.client.Delete(ctx, found, client.GracePeriodSeconds(0)))).To(Succeed())
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		g.Expect(client.IgnoreNotFound(w.user.client.Patch(ctx, found, patch))).To(Succeed())
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
