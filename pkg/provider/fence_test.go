package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestFenceIsAlsoForTheLeaseThatTheCCMWorksWith(t *testing.T) {
	g := NewWithT(t)
	azure, _ := builtIn().Lookup("azure")
	fence := grantsOf(g, provider.FenceObjects(azure.Identity()), azure.Identity())
	g.Expect(fence.rules).To(
		ContainElement(HaveField("ResourceNames", Equal([]string{"cloud-controller-manager", "aks-managed-resource-locker"}))),
	)
	addons := render(g, "azure", azure, 36)
	probe, err := provider.Probe(addons.CCM, azure.Identity())
	g.Expect(err).NotTo(HaveOccurred())
	granted := grantsOf(g, probe.Objects, provider.ProbeIdentity(azure.Identity()))
	g.Expect(granted.rules).To(HaveEach(HaveField("ResourceNames", Equal([]string{"cloud-controller-manager-probe"}))))
}

func TestFenceLetsTheIdentityWriteItsLeaseAndNoOther(t *testing.T) {
	g := NewWithT(t)
	objects := provider.FenceObjects(manifest.Identity{
		ServiceAccountNamespace: "identities", ServiceAccountName: "ccm",
		LeaseNamespace: "leases", LeaseName: "cloud-controller-manager",
	})
	g.Expect(objects).To(HaveLen(2))
	role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
	strict := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation
	g.Expect(strict(objects[0].Object, role, true)).To(Succeed())
	g.Expect(strict(objects[1].Object, binding, true)).To(Succeed())

	meta := metav1.ObjectMeta{
		Namespace: "leases", Name: "ccm-migration:cloud-controller-manager-lease",
		Labels: map[string]string{"app.kubernetes.io/managed-by": "ccm-migration-controller"},
	}
	group, leases := []string{"coordination.k8s.io"}, []string{"leases"}
	g.Expect(role).To(Equal(&rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"},
		ObjectMeta: meta,
		Rules: []rbacv1.PolicyRule{
			{APIGroups: group, Resources: leases, Verbs: []string{"create"}},
			{
				APIGroups: group, Resources: leases, Verbs: []string{"get", "update", "patch"},
				ResourceNames: []string{"cloud-controller-manager"},
			},
		},
	}))
	g.Expect(binding).To(Equal(&rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"},
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "identities", Name: "ccm"}},
	}))
}
