//go:build commandlines

package releases_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// us is the name in our client certificate.
const us = "ccm-migration-controller"

// API servers before 1.28 do not know who asks: the name in our certificate gets the right to free KCM's Lease.
func TestWeMayFreeKCMsLease(t *testing.T) {
	g := NewWithT(t)
	release := newRelease(t)
	release.install(t)
	g.Expect(release.connect(t).Leases.GrantLease(
		t.Context(), observation.Ref{Kind: "Lease", Namespace: metav1.NamespaceSystem, Name: kcm},
	)).To(Succeed())
	binding := &rbacv1.RoleBinding{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: handover.KCMLeaseRole}
	g.Expect(release.client.Get(t.Context(), key, binding)).To(Succeed())
	g.Expect(binding.Subjects).To(ConsistOf(rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: us}))
}

// connect as the controller does.
func (r *release) connect(t *testing.T) *usercluster.Session {
	t.Helper()
	g := NewWithT(t)
	certificate, err := r.cluster.ClientCert(us)
	g.Expect(err).NotTo(HaveOccurred())
	cluster := &ucv1.Cluster{ObjectMeta: named("alpha")}
	secret := &corev1.Secret{ObjectMeta: named("alpha-kubeconfig")}
	secret.Data = map[string][]byte{"value": r.cluster.Kubeconfig(certificate)}
	registry := usercluster.NewRegistry(usercluster.Options{
		SecretReader: fake.NewClientBuilder().WithObjects(secret).Build(), Scheme: clientgoscheme.Scheme, ConnectWorkers: 1,
		Log: logr.Discard(), Allow: usercluster.Allow{Addresses: []net.IPNet{{IP: net.IPv4(127, 0, 0, 0), Mask: net.CIDRMask(8, 32)}}},
	})
	stopped := make(chan error, 1)
	go func() { stopped <- registry.Start(t.Context()) }()
	t.Cleanup(func() { NewWithT(t).Eventually(stopped).WithTimeout(patience).Should(Receive(BeNil())) })
	registry.Ensure(cluster)
	key := client.ObjectKeyFromObject(cluster)
	g.Eventually(func() bool { return registry.State(key).Reachable }).WithTimeout(patience).WithPolling(interval).Should(BeTrue())
	session, connected := registry.Session(key)
	g.Expect(connected).To(BeTrue())
	return session
}

// install our rights, as people do.
func (r *release) install(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	folder := filepath.Join("..", "..", "..", "config", "usercluster-rbac")
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	g.Expect(err).NotTo(HaveOccurred())
	for _, resource := range rendered.Resources() {
		content, err := resource.Map()
		g.Expect(err).NotTo(HaveOccurred())
		object := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
		g.Expect(r.client.Apply(t.Context(), object, client.FieldOwner("test"))).To(Succeed())
	}
}
