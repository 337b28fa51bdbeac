package integration_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// bootstrapOfFirst is what the machines of MachineDeployment first boot with.
var bootstrapOfFirst = client.ObjectKey{Namespace: machines.BootstrapNamespace, Name: "first-kube-system-provisioning-config"}

// writeBootstrap is the operating-system-manager, which writes for one revision of a MachineDeployment.
func (w *world) writeBootstrap(name, revision string, external bool) {
	w.t.Helper()
	g := NewWithT(w.t)
	deployment := &machines.MachineDeployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceSystem, Name: name, Annotations: map[string]string{machines.RevisionAnnotation: revision},
	}}
	for _, secret := range machines.RenderBootstrap(deployment, external).Secrets() {
		g.Expect(client.IgnoreNotFound(w.user.client.Delete(w.t.Context(), secret.DeepCopy()))).To(Succeed())
		g.Expect(w.user.client.Create(w.t.Context(), secret)).To(Succeed())
	}
}

// rollingOne is the first of two MachineDeployments in its roll, with a Node that the CCM does not initialize.
func rollingOne(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("first", 1)
	w.pool("second", 1)
	w.writeBootstrap("first", "1", false)
	w.idleCCM = true
	w.flip()
	t.Cleanup(func() {
		NewWithT(t).Expect(
			w.user.client.DeleteAllOf(
				context.WithoutCancel(t.Context()),
				&corev1.Secret{},
				client.InNamespace(machines.BootstrapNamespace),
			),
		).To(Succeed())
	})
	return w
}

func awaitsBootstrap(c *ucv1.Cluster) bool {
	for _, condition := range c.Status.Conditions {
		if condition.Type == ucv1.MachineDeploymentsRolledOutCondition {
			return condition.Reason == ucv1.WaitingForBootstrapDataReason
		}
	}
	return false
}

func TestBootstrapDataOnAnAPIServer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := rollingOne(t)
	rolledOut := func() metav1.Condition { return w.condition(ucv1.MachineDeploymentsRolledOutCondition) }

	w.until("a wait for the data of the newest revision", awaitsBootstrap, w.playEverybody)
	g.Expect(rolledOut().Message).To(ContainSubstring("Secret cloud-init-settings/first-kube-system-provisioning-config of " +
		"MachineDeployment kube-system/first is not written for its newest revision"))
	w.writeBootstrap("first", "2", false)
	w.playEverybody()
	w.pass()
	g.Expect(rolledOut().Message).To(ContainSubstring("starts kubelets without --cloud-provider=external"))
	g.Expect(pretty(w.status())).NotTo(ContainSubstring("setup_net_env.sh"), "no content is shown")
	g.Expect(w.machineNames()).NotTo(ContainElement("second-1-0"))

	w.writeBootstrap("first", "2", true)
	w.playEverybody()
	w.pass()
	g.Expect(rolledOut().Reason).To(Equal(ucv1.WaitingForMachinesReason), "%s", rolledOut().Message)
	w.idleCCM = false
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("first-1-0", "second-1-0"))
}

func TestBootstrapDataThatMayNotBeReadIsLeftToTheNodes(t *testing.T) {
	t.Parallel()
	w := rollingOne(t)
	g, role := NewWithT(t), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: machines.BootstrapNamespace, Name: "ccm-migration-controller"},
	}
	user, err := client.New(w.user.as(controllerIdentity), client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	forbidden := func() bool { return apierrors.IsForbidden(user.Get(t.Context(), bootstrapOfFirst, &corev1.Secret{})) }
	g.Expect(w.user.client.Delete(t.Context(), role)).To(Succeed())
	t.Cleanup(func() { w.user.grantAgain(t) })
	g.Eventually(forbidden, deadline, interval).Should(BeTrue())
	w.until("a roll that waits for its Node only", func(c *ucv1.Cluster) bool {
		return len(c.Status.RolledMachineDeployments) > 0 &&
			w.condition(ucv1.MachineDeploymentsRolledOutCondition).Reason == ucv1.WaitingForMachinesReason
	}, w.playEverybody)
	w.idleCCM = false
	w.until("the end", finished, w.playEverybody)
}
