package integration_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
)

// later is simcloud with a CCM that starts without its loop cloud-node.
type later struct{ provider.Profile }

func (l later) Facts(version string) observation.Provider {
	facts := l.Profile.Facts(version)
	facts.CloudNodeLater = true
	return facts
}

func TestTheCCMGetsTheLoopThatWritesAddressesBeforeTheFirstExternalMachine(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.observeBy(suite.catalogue.With("simcloud", later{simcloud.Profile{}}))
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.address("small-0-0", corev1.NodeInternalIP)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	play := []func(){w.playControlPlane, w.playAddons, func() { w.playKCM(w.pods(kcm)[len(w.pods(kcm))-1].Name) }}
	w.until("the loop", cloudNodeOn, append(play, func() { w.playCCM() })...)
	g.Expect(w.status().CloudNode.LedBy).To(Equal(ccm + "-0_1"))
	g.Expect(w.controllers()).To(HaveSuffix(",-cloud-node"), "recorded first")

	another := func() { g.Expect(w.renew(w.asCCM, ccm, ccm+"-1_1")).To(Succeed()) }
	comparing := func(c *ucv1.Cluster) bool { return c.Status.CloudNode.ComparedUntil != nil }
	w.until("a CCM with the loop", comparing, w.playAddons, another)
	g.Expect(w.controllers()).NotTo(ContainSubstring("cloud-node,"))
	g.Expect(w.controllers()).NotTo(HaveSuffix(",-cloud-node"))

	w.address("small-0-0", corev1.NodeExternalIP)
	w.until(
		"a person",
		func(*ucv1.Cluster) bool { return w.condition("Stalled").Reason == "NodeAddressesDiffer" },
		w.playAddons,
		another,
	)
	g.Expect(w.condition("MachineControllerConfigured").Message).To(ContainSubstring(
		"Node small-0-0 had InternalIP 192.0.2.7 and has ExternalIP 192.0.2.7"))
	g.Expect(w.controllers()).To(HaveSuffix(",-cloud-node"), "switched off again")
	g.Expect(w.external()).To(BeFalse())

	w.edit(func(c *ucv1.Cluster) { c.Spec.Rollout.AcceptChanges = []string{"Node small-0-0"} })
	w.until("the loop", cloudNodeOn, w.playAddons, another)
	w.until("the roll", at(ucv1.StepRoll), w.playControlPlane, w.playAddons, func() { w.playCCM() })
	g.Expect(w.external()).To(BeTrue())
	w.until("completion", func(c *ucv1.Cluster) bool { return c.Status.CompletedAt != nil }, w.playControlPlane, w.playMachines)
	g.Expect(w.controllers()).NotTo(HaveSuffix(",-cloud-node"))
}

func cloudNodeOn(c *ucv1.Cluster) bool {
	return c.Status.CloudNode != nil && c.Status.CloudNode.EnabledAt != nil
}

// address gives a Node its only one.
func (w *world) address(name string, kind corev1.NodeAddressType) {
	w.t.Helper()
	g := NewWithT(w.t)
	node := &corev1.Node{}
	g.Expect(w.user.client.Get(w.t.Context(), client.ObjectKey{Name: name}, node)).To(Succeed())
	node.Status.Addresses = []corev1.NodeAddress{{Type: kind, Address: "192.0.2.7"}}
	g.Expect(w.user.client.Status().Update(w.t.Context(), node)).To(Succeed())
}

// controllers is that flag of the CCM.
func (w *world) controllers() string {
	w.t.Helper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ccm}
	NewWithT(w.t).Expect(w.user.client.Get(w.t.Context(), key, deployment)).To(Succeed())
	arguments := deployment.Spec.Template.Spec.Containers[0].Args
	at := slices.IndexFunc(arguments, func(argument string) bool { return strings.HasPrefix(argument, "--controllers=") })
	return arguments[at]
}
