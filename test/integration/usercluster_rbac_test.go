package integration_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func TestUserClusterRulesAllowEveryAddonObject(t *testing.T) {
	t.Parallel()
	user := userClusterIdentity(t)
	tried := map[string]bool{}
	for _, name := range suite.catalogue.Names() {
		profile, _ := suite.catalogue.Lookup(name)
		for minor := range 100 {
			if profile.Facts(fmt.Sprintf("1.%d.0", minor)).VersionProblem != "" {
				continue
			}
			t.Run(fmt.Sprintf("%s 1.%d", name, minor), func(t *testing.T) {
				objects := rendered(t, profile, minor)
				NewWithT(t).Expect(objects).NotTo(BeEmpty())
				applyAndDelete(t, user, untried(t, tried, objects))
			})
		}
	}
}

// untried are the objects that no minor before had letter for letter: most change in few minors, and the authorizer
// would only say again what it said.
func untried(t *testing.T, tried map[string]bool, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	var left []*unstructured.Unstructured
	for _, object := range objects {
		content, err := object.MarshalJSON()
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		if !tried[string(content)] {
			tried[string(content)] = true
			left = append(left, object)
		}
	}
	return left
}

// applyAndDelete does what pkg/usercluster does with an object: read, apply where there is none, apply again, delete.
func applyAndDelete(t *testing.T, user client.Client, objects []*unstructured.Unstructured) {
	t.Helper()
	g := NewWithT(t)
	options := []client.ApplyOption{client.FieldOwner(ucv1.FieldManager), client.ForceOwnership}
	for _, object := range objects {
		about := object.GetKind() + " " + object.GetName()
		live := object.DeepCopy()
		g.Expect(client.IgnoreNotFound(user.Get(t.Context(), client.ObjectKeyFromObject(object), live))).To(
			Succeed(),
			"reading %s",
			about,
		)
		for range 2 {
			applied := object.DeepCopy()
			g.Expect(user.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), options...)).To(
				Succeed(),
				"applying %s",
				about,
			)
		}
	}
	for _, object := range slices.Backward(objects) {
		if addons.Prunable(addons.InventoryOf([]*unstructured.Unstructured{object})[0]) && !manifest.Shared(object) {
			g.Expect(user.Delete(t.Context(), object)).To(Succeed(), "deleting %s %s", object.GetKind(), object.GetName())
		}
	}
}

func TestUserClusterRulesAllowNothingElse(t *testing.T) {
	t.Parallel()
	user := userClusterIdentity(t)
	for name, tc := range map[string]struct {
		verb, group, resource, namespace, object string
		want                                     bool
	}{
		"watching Nodes":                         {"watch", "", "nodes", "", "", true},
		"watching the Lease of the CCM":          {"watch", "coordination.k8s.io", "leases", "kube-system", "cloud-controller-manager", true},
		"looking at VolumeAttachments":           {"list", "storage.k8s.io", "volumeattachments", "", "", true},
		"looking at events of Services":          {"list", "", "events", "", "", true},
		"watching all events":                    {"watch", "", "events", "", "", false},
		"looking for Pods that no one made":      {"list", "", "pods", "", "", true},
		"looking for StatefulSets":               {"list", "apps", "statefulsets", "", "", true},
		"watching all Pods":                      {"watch", "", "pods", "", "", false},
		"stopping another CCM":                   {"patch", "apps", "deployments", "default", "occm", false},
		"detaching a volume":                     {"delete", "storage.k8s.io", "volumeattachments", "", "a", false},
		"rolling a MachineDeployment":            {"patch", "cluster.k8s.io", "machinedeployments", "default", "pool", true},
		"writing the Lease of the CCM":           {"update", "coordination.k8s.io", "leases", "kube-system", "cloud-controller-manager", false},
		"making a MachineDeployment again":       {"create", "cluster.k8s.io", "machinedeployments", "default", "pool", false},
		"making the canary":                      {"create", "cluster.k8s.io", "machinedeployments", "default", "ccm-migration-canary", true},
		"making the canary's pod":                {"create", "", "pods", "kube-system", "ccm-migration-canary", true},
		"making its pod elsewhere":               {"create", "", "pods", "default", "ccm-migration-canary", false},
		"deleting another pod":                   {"delete", "", "pods", "kube-system", "web", false},
		"looking at PodDisruptionBudgets":        {"list", "policy", "poddisruptionbudgets", "", "", true},
		"evicting a pod":                         {"create", "", "pods/eviction", "kube-system", "ccm-migration-canary", false},
		"deleting a Machine":                     {"delete", "cluster.k8s.io", "machines", "default", "m", false},
		"changing a Node":                        {"patch", "", "nodes", "", "n", false},
		"listing the Secrets of kube-system":     {"list", "", "secrets", "kube-system", "", false},
		"reading another Secret":                 {"get", "", "secrets", "kube-system", "other", false},
		"reading what machines boot with":        {"get", "", "secrets", "cloud-init-settings", "pool-default-provisioning-config", true},
		"listing what machines boot with":        {"list", "", "secrets", "cloud-init-settings", "", false},
		"changing what machines boot with":       {"patch", "", "secrets", "cloud-init-settings", "pool-default-provisioning-config", false},
		"reading a Secret of another namespace":  {"get", "", "secrets", "default", "cloud-config", false},
		"making another StorageClass":            {"create", "storage.k8s.io", "storageclasses", "", "standard", false},
		"taking the default from a StorageClass": {"patch", "storage.k8s.io", "storageclasses", "", "standard", true},
		"deleting the snapshot-controller":       {"delete", "apps", "deployments", "kube-system", "snapshot-controller", false},
		"deleting a StorageClass":                {"delete", "storage.k8s.io", "storageclasses", "", "simcloud-csi", false},
		"escalating another ClusterRole":         {"escalate", "rbac.authorization.k8s.io", "clusterroles", "", "edit", false},
		"impersonating":                          {"impersonate", "", "users", "", "admin", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: tc.verb, Group: tc.group, Resource: tc.resource, Namespace: tc.namespace, Name: tc.object,
				},
			}}
			g.Expect(user.Create(t.Context(), review)).To(Succeed())
			g.Expect(review.Status.Allowed).To(Equal(tc.want))
		})
	}
}

func TestUserClusterRulesBindNoForeignRole(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	binding := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "simcloud-csi-node"},
		"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": "User", "name": "someone"}},
	}}
	binding.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"))
	err := userClusterIdentity(t).Apply(t.Context(), client.ApplyConfigurationFromUnstructured(binding), client.FieldOwner("test"))
	g.Expect(err).To(Satisfy(apierrors.IsForbidden))
}

// userClusterIdentity applies config/usercluster-rbac and returns a client that has nothing but its rights.
func userClusterIdentity(t *testing.T) client.Client {
	t.Helper()
	g := NewWithT(t)
	objects, err := kustomized("usercluster-rbac")
	g.Expect(err).NotTo(HaveOccurred())
	boots, err := kustomized("usercluster-rbac-bootstrap")
	g.Expect(err).NotTo(HaveOccurred())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: machines.BootstrapNamespace}}
	g.Expect(client.IgnoreAlreadyExists(suite.client.Create(t.Context(), namespace))).To(Succeed())
	for _, object := range append(objects, boots...) {
		g.Expect(suite.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("integration"), client.ForceOwnership)).To(Succeed())
	}
	user, err := client.New(suite.management.as(controllerIdentity), client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	// The authorizer reads the new rules from a watch.
	g.Eventually(func() error {
		return user.List(t.Context(), &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}})
	}, deadline, interval).Should(Succeed())
	return user
}

func rendered(t *testing.T, profile provider.Profile, minor int) []*unstructured.Unstructured {
	t.Helper()
	addons, err := profile.Render(manifest.RenderInput{
		Version:     fmt.Sprintf("1.%d.0", minor),
		Inherited:   ucv1.InheritedConfiguration{ClusterName: "kubernetes", ClusterCIDR: "10.244.0.0/16"},
		CloudConfig: profile.Example(),
		ClusterUID:  "6f4cbf1e-0a2f-4b7e-9d0c-1c0d2f3a4b5c",
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	probe, err := render.Probe(addons.CCM, profile.Identity())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return slices.Concat(addons.WithNodes().Objects, addons.CSI.Objects, probe.Objects, render.FenceObjects(profile.Identity()))
}

// simcloudConfig is complete, and of no one.
func simcloudConfig() map[string][]byte { return simcloud.Profile{}.Example() }
