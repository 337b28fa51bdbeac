package render

import (
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestFenceLetsTheIdentityWriteItsLeaseAndNoOther(t *testing.T) {
	g := NewWithT(t)
	objects := FenceObjects(manifest.Identity{
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
