//go:build vcsim

package vcsim_test

import (
	"net"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// openSession is the manager's, with the kubeconfig that it would find in a management cluster.
func (w *world) openSession() *usercluster.Session {
	GinkgoHelper()
	object := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user-" + cluster, Name: cluster}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: object.KubeconfigSecret().Name}}
	secret.Data = map[string][]byte{object.KubeconfigSecret().Key: w.control.Kubeconfig(w.control.AdminConfig())}
	_, loopback, err := net.ParseCIDR("127.0.0.0/8")
	Expect(err).NotTo(HaveOccurred())
	session, err := usercluster.Dial(w.ctx, object, usercluster.Options{
		SecretReader: fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(secret).Build(), Scheme: scheme.Scheme,
		Allow: usercluster.Allow{Addresses: []net.IPNet{*loopback}},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Close() })
	return session
}

// inventory is what the manager sees.
func (w *world) inventory(session *usercluster.Session) observation.Inventory {
	GinkgoHelper()
	seen := session.Facts.Inventory(w.ctx)
	Expect(seen.IsKnown()).To(BeTrue(), seen.Why())
	return seen.Value()
}

// seenVolume is what the manager sees of one.
func seenVolume(inventory observation.Inventory, name string) observation.Volume {
	GinkgoHelper()
	for _, volume := range inventory.Volumes {
		if volume.Name == name {
			return volume
		}
	}
	Fail("the manager does not see PersistentVolume " + name)
	return observation.Volume{}
}
