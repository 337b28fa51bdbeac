package manifest_test

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func TestSetOfTypedObjects(t *testing.T) {
	g := NewWithT(t)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "a"}}
	set, err := manifest.NewSet("part", "v1", []manifest.Object{deployment})
	g.Expect(err).NotTo(HaveOccurred())
	object := set.Objects[0]
	g.Expect(object.GetAPIVersion() + " " + object.GetKind()).To(Equal("apps/v1 Deployment"))
	g.Expect(object.Object).NotTo(HaveKey("status"), "the status is not ours to say")
	g.Expect(object.Object["metadata"]).NotTo(HaveKey("creationTimestamp"))
	g.Expect(set.Workloads).To(HaveLen(1))

	_, err = manifest.NewSet("part", "v1", []manifest.Object{&corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "b"}}})
	g.Expect(err).To(MatchError(ContainSubstring("render part: the catalogue does not know the kind of *v1.Event b")))
}

func TestRulesOfOneResourceAreMerged(t *testing.T) {
	g := NewWithT(t)
	named := manifest.Rule("", "nodes", "delete")
	named.ResourceNames = []string{"a"}
	objects := manifest.ClusterAccess("a", "a", []rbacv1.PolicyRule{
		manifest.Rule(
			"",
			"nodes",
			"get",
			"list",
		),
		manifest.Rule("apps", "nodes", "get"),
		named,
		manifest.Rule("", "nodes", "list", "patch"),
	})
	g.Expect(objects[0].(*rbacv1.ClusterRole).Rules).To(Equal([]rbacv1.PolicyRule{
		manifest.Rule("", "nodes", "get", "list", "patch"), manifest.Rule("apps", "nodes", "get"), named,
	}))
}

func TestChecksum(t *testing.T) {
	g := NewWithT(t)
	first := manifest.Checksum(map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	g.Expect(first).To(HaveLen(64))
	g.Expect(manifest.Checksum(map[string][]byte{"b": []byte("2"), "a": []byte("1")})).To(Equal(first))
	g.Expect(manifest.Checksum(map[string][]byte{"a": []byte("12"), "b": nil})).NotTo(Equal(first))
	g.Expect(manifest.Checksum(map[string][]byte{"a": []byte("1b"), "": []byte("2")})).NotTo(Equal(first))
}
