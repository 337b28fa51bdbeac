package integration_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// leasesForEverybody grants Leases to every ServiceAccount of the user cluster, as some charts do.
func (w *world) leasesForEverybody() {
	w.t.Helper()
	g := NewWithT(w.t)
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "leases-for-everybody"}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"*"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts"}},
		},
	} {
		g.Expect(w.user.client.Create(w.t.Context(), object)).To(Succeed())
		w.t.Cleanup(func() {
			g.Expect(w.user.client.Delete(context.WithoutCancel(w.t.Context()), object)).To(Succeed())
		})
	}
	lease := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ccm}
	g.Eventually(func() error {
		return client.IgnoreNotFound(w.asCCM.Get(w.t.Context(), lease, &coordinationv1.Lease{}))
	}, deadline, interval).Should(Succeed(), "the authorizer reads the binding from a watch")
}

func TestWhereLeasesAreFreeTheCCMComesLast(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	early := false
	w := newWorld(t)
	w.leasesForEverybody()
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the end", finished, w.playEverybody, func() {
		handover := w.status().Handover
		allowed := handover != nil && handover.WorkloadAllowedAt != nil
		early = early || (w.ccmDeployed() && !allowed)
	})
	handover := w.status().Handover
	g.Expect(handover.Protocol).To(Equal(ucv1.SerializedProtocol))
	g.Expect(handover.ProtocolReason).To(ContainSubstring("may create, update Lease " +
		"kube-system/cloud-controller-manager"))
	g.Expect(early).To(BeFalse(), "the CCM's workload is not there before KCM is silent")
	g.Expect(handover.Proof).To(HaveEach(HaveField("State", ucv1.ProvenState)))
	g.Expect(w.machineNames()).To(ConsistOf("pool-1-0"))
}

func TestFencedIsRefusedWhereLeasesAreFree(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.leasesForEverybody()
	w.deployControlPlane(loopsOn()...)
	w.create(func(c *ucv1.Cluster) { c.Spec.Handover.Protocol = ucv1.FencedProtocolChoice })
	w.pass()
	w.edit(feature(true))
	w.until("a finding", func(c *ucv1.Cluster) bool { return w.condition("Stalled").Reason != "" })
	g.Expect(w.condition("PreflightPassed").Message).To(And(
		ContainSubstring("although our fence is closed"), ContainSubstring("set spec.handover.protocol to Serialized")))
	g.Expect(w.status().StartedAt).To(BeNil())
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.Protocol = ucv1.AutoProtocol })
	w.until("the start", func(c *ucv1.Cluster) bool { return c.Status.StartedAt != nil })
	g.Expect(w.status().Handover.Protocol).To(Equal(ucv1.SerializedProtocol))
}
