package integration_test

import (
	"context"
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// states are statuses that a rule looks at, and one that has nothing.
func states() map[string]modifier {
	return map[string]modifier{
		"empty":     func(*ucv1.Cluster) {},
		"in-tree":   origin(ucv1.OriginInTree),
		"external":  origin(ucv1.OriginExternal),
		"migrating": origin(ucv1.OriginMigrating),
		"started":   all(origin(ucv1.OriginMigrating), started),
		"completed": all(origin(ucv1.OriginMigrating), started, inTreeRemoved(metav1.ConditionFalse)),
		"finalized": all(origin(ucv1.OriginMigrating), started, inTreeRemoved(metav1.ConditionTrue)),
	}
}

// A status write that a rule refuses would stop the controller for good, so none may be, not even one that makes no
// sense.
func TestNoStatusWriteIsRefused(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	specs := map[string]modifier{
		"unset": featureRemoved,
		"off":   feature(false),
		"on":    all(feature(true), clusterName("a"), managerDeployment("kcm")),
	}
	for specName, spec := range specs {
		for fromName, from := range states() {
			t.Run(specName+" "+fromName, func(t *testing.T) {
				for toName, to := range states() {
					g := NewWithT(t)
					c := createCluster(t, newCluster(namespace, spec, from))
					c.Status = ucv1.ClusterStatus{}
					to(c)
					g.Expect(suite.client.Status().Update(t.Context(), c)).To(Succeed(), "to %s", toName)
					applyStatus(t, c)
				}
			})
		}
	}
}

func TestStatusOfAnObjectThatNewRulesWouldRefuse(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	original := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(suite.client.Get(t.Context(), clusterCRD(), original)).To(Succeed())
	t.Cleanup(func() { updateCRD(t, original.Spec) })

	relaxed := original.DeepCopy()
	spec := relaxed.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	version := spec.Properties["version"]
	version.Pattern, version.XValidations = "", nil
	spec.Properties["version"] = version
	updateCRD(t, relaxed.Spec)

	invalid := func(c *ucv1.Cluster) { c.Spec.Version = "latest" }
	var cluster *ucv1.Cluster
	g.Eventually(func() error {
		cluster = newCluster(namespace, invalid, feature(true))
		return suite.client.Create(t.Context(), cluster)
	}, deadline, interval).Should(Succeed())

	updateCRD(t, original.Spec)
	g.Eventually(func() error {
		return suite.client.Create(t.Context(), newCluster(namespace, invalid), client.DryRunAll)
	}, deadline, interval).ShouldNot(Succeed())

	for name, state := range states() {
		cluster.Status = ucv1.ClusterStatus{}
		state(cluster)
		g.Expect(suite.client.Status().Update(t.Context(), cluster)).To(Succeed(), name)
		applyStatus(t, cluster)
	}
	cluster.Finalizers = append(cluster.Finalizers, ucv1.ClusterFinalizer)
	g.Expect(suite.client.Update(t.Context(), cluster)).To(Succeed(), "the finalizer goes on")
	cluster.Finalizers = nil
	g.Expect(suite.client.Update(t.Context(), cluster)).To(Succeed(), "and comes off")
}

// applyStatus writes the status as the controller does: one server-side apply that carries the resourceVersion.
func applyStatus(t *testing.T, c *ucv1.Cluster) {
	t.Helper()
	current := fetch(t, c)
	NewWithT(t).Expect(statusApplied(t, current)).To(Succeed())
	c.ResourceVersion = current.ResourceVersion
}

// statusApplied applies the whole status by server-side apply, as the controller does.
func statusApplied(t *testing.T, c *ucv1.Cluster) error {
	t.Helper()
	g := NewWithT(t)
	status := c.Status.DeepCopy()
	status.ObservedGeneration = c.Generation
	raw, err := json.Marshal(map[string]any{
		"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster", "status": status,
		"metadata": map[string]any{"name": c.Name, "namespace": c.Namespace, "resourceVersion": c.ResourceVersion},
	})
	g.Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{}
	g.Expect(object.UnmarshalJSON(raw)).To(Succeed())
	err = suite.client.Status().Patch(t.Context(), object, client.RawPatch(types.ApplyPatchType, raw),
		client.FieldOwner(ucv1.FieldManager), client.ForceOwnership)
	c.ResourceVersion = object.GetResourceVersion()
	return err
}

func updateCRD(t *testing.T, spec apiextensionsv1.CustomResourceDefinitionSpec) {
	t.Helper()
	// Also called when the test is over, and its context with it.
	ctx := context.WithoutCancel(t.Context())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	g := NewWithT(t)
	g.Eventually(func() error {
		if err := suite.client.Get(ctx, clusterCRD(), crd); err != nil {
			return err
		}
		crd.Spec = spec
		return suite.client.Update(ctx, crd)
	}, deadline, interval).Should(Succeed())
}

func clusterCRD() client.ObjectKey {
	return client.ObjectKey{Name: "clusters." + ucv1.GroupName}
}
