package integration_test

import (
	"context"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/crds"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

func TestWhatCannotBeRolledIsNamedAndTheRestIsRolled(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	frozen := w.pool("frozen", 1)
	w.pool("pool", 1)
	frozen.Spec.Paused = true
	g.Expect(w.user.client.Update(t.Context(), frozen)).To(Succeed())
	alone := &machines.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "alone"}}
	g.Expect(w.user.client.Create(t.Context(), alone)).To(Succeed())
	w.flip()

	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "BlockedMachines" }, w.playEverybody)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("MachineDeploymentsRolledOut").Message).To(And(
		ContainSubstring("MachineDeployment kube-system/frozen is paused"), ContainSubstring("Machine kube-system/alone has no "+
			"MachineDeployment")))
	g.Expect(w.machineNames()).To(ConsistOf("alone", "frozen-0-0", "pool-1-0"))
	g.Expect(w.status().MachineDeployments).To(
		HaveValue(Equal(ucv1.ProgressCount{Total: 2, UpToDate: 1, Blocked: 1, Summary: "1/2"})),
	)

	g.Expect(w.user.client.Delete(t.Context(), alone)).To(Succeed())
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKeyFromObject(frozen), frozen)).To(Succeed())
	frozen.Spec.Paused = false
	g.Expect(w.user.client.Update(t.Context(), frozen)).To(Succeed())
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.machineNames()).To(ConsistOf("frozen-1-0", "pool-1-0"))
	w.expectVerdict(kstatus.CurrentStatus)
}

func TestANodeWithoutAMachineIsNamedUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}, Spec: corev1.NodeSpec{ProviderID: "simcloud://by-hand"}})
	w.flip()
	w.until("a failure", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "NodesNotInitialized" }, w.playEverybody)
	g.Expect(w.condition("NodesInitialized").Message).To(
		And(ContainSubstring("by-hand has no Machine"), ContainSubstring("spec.rollout.acceptNodes")),
	)
	w.edit(func(c *ucv1.Cluster) { c.Spec.Rollout.AcceptNodes = []string{"by-hand"} })
	w.until("the end", finished, w.playEverybody)
}

// Nodes have what their kubelets and administrators left on them. One that has nothing at all is named before the start.
func TestNodesOfOddShapesAreMigrated(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	node := &corev1.Node{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Name: "pool-0-0"}, node)).To(Succeed())
	node.Labels, node.Annotations = nil, nil
	g.Expect(w.user.client.Update(t.Context(), node)).To(Succeed())
	w.node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bare"}, Spec: corev1.NodeSpec{ProviderID: "simcloud://bare"}})
	nothing := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "nothing"}}
	g.Expect(w.user.client.Create(t.Context(), nothing)).To(Succeed())
	w.flip()
	w.edit(func(c *ucv1.Cluster) { c.Spec.Rollout.AcceptNodes = []string{"bare"} })
	w.playKCM(kcm + "-r1-0")
	w.until("a finding", func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "PreflightFailed" })
	g.Expect(w.condition("Ready").Message).To(ContainSubstring("Node nothing"))

	g.Expect(w.user.client.Delete(t.Context(), nothing)).To(Succeed())
	w.until("the end", finished, w.playEverybody)
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Name: "bare"}, node)).To(Succeed())
	g.Expect(node.Labels).To(BeEmpty())
}

// Without Nodes nothing can be scheduled and no one can lead: the cluster is done, and its first Node is served later.
func TestAClusterWithoutMachines(t *testing.T) {
	t.Parallel()
	for name, definitions := range map[string]bool{"with the machine-controller's definitions": true, "without them": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := newWorld(t)
			if !definitions {
				w.removeDefinitions()
			}
			w.deployControlPlane(loopsOn()...)
			w.flip()
			kcmOnly := func() {
				w.playControlPlane()
				for _, pod := range w.pods(kcm) {
					w.playKCM(pod.Name)
				}
			}
			w.until("the end", finished, kcmOnly)
			w.expectVerdict(kstatus.CurrentStatus)
			g.Expect(w.condition("CSIKubeletMigrationCompleted").Status).To(Equal(metav1.ConditionTrue))
			g.Expect(w.condition("CloudControllerManagerReady")).To(
				And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", "NoNodes")),
			)
			g.Expect(w.condition("CSIReady").Reason).To(Equal("NoNodes"))
			g.Expect(w.status().RollGeneration).To(BeEmpty())

			w.externalNode("first")
			w.pass()
			g.Expect(w.condition("CloudControllerManagerReady").Status).To(Equal(metav1.ConditionFalse), "the first Node ends that")
			w.until("a leader", func(*ucv1.Cluster) bool {
				return w.condition("CloudControllerManagerReady").Status == metav1.ConditionTrue
			}, kcmOnly, w.playAddons, func() { w.playCCM() })
			g.Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
		})
	}
}

// removeDefinitions takes the machine-controller's CRDs away until the test is over.
func (w *world) removeDefinitions() {
	w.t.Helper()
	g := NewWithT(w.t)
	definitions, err := crds.All()
	g.Expect(err).NotTo(HaveOccurred())
	ctx := context.WithoutCancel(w.t.Context())
	w.t.Cleanup(func() {
		g.Eventually(func() error {
			if err := crds.Install(ctx, w.user.config); err != nil {
				return err
			}
			return w.user.client.List(ctx, &machines.MachineDeploymentList{})
		}, deadline, interval).Should(Succeed())
	})
	for _, definition := range definitions {
		g.Expect(w.user.client.Delete(ctx, definition)).To(Succeed())
	}
	g.Eventually(func(g Gomega) {
		for _, list := range []client.ObjectList{
			&machines.MachineList{}, &machines.MachineSetList{}, &machines.MachineDeploymentList{},
		} {
			g.Expect(apierrors.IsNotFound(w.user.client.List(ctx, list))).To(BeTrue())
		}
	}, deadline, interval).Should(Succeed())
}
