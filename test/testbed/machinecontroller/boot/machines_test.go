package boot_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/boot"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/leader"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const (
	patience = 10 * time.Second
	poll     = 10 * time.Millisecond
)

// world is a cluster with the Secrets of a MachineDeployment, and the machines of its cloud.
type world struct {
	client.Client
	clock     *clocktesting.FakeClock
	instances []cloud.Instance
}

func start(t *testing.T, external bool, instances ...cloud.Instance) *world {
	t.Helper()
	scheme, err := leader.Scheme()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	deployment := &machines.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "pool"}}
	secrets := machines.RenderBootstrap(deployment, external)
	for at := range instances {
		if instances[at].UserData == "of pool" {
			instances[at].UserData = string(secrets.Fetch.Data["cloud-config"])
		}
	}
	w := &world{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(secrets.Config).Build(),
		clock:  clocktesting.NewFakeClock(time.Now()), instances: instances,
	}
	machines := &boot.Machines{
		Client: w, Instances: func() []cloud.Instance { return w.instances }, Version: "1.30.14", Delay: 2 * time.Second,
		Clock: w.clock, Log: logr.Discard(),
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- machines.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		NewWithT(t).Expect(<-ended).To(Succeed())
	})
	return w
}

// nodes after a while in which every machine was looked at several times.
func (w *world) nodes(t *testing.T) []corev1.Node {
	t.Helper()
	g := NewWithT(t)
	for range 10 {
		g.Eventually(w.clock.HasWaiters).WithTimeout(patience).WithPolling(poll).Should(BeTrue())
		w.clock.Step(time.Second)
	}
	list := &corev1.NodeList{}
	g.Expect(w.List(t.Context(), list)).To(Succeed())
	return list.Items
}

func TestMachinesJoinAsTheirSecretSays(t *testing.T) {
	for name, external := range map[string]bool{"in-tree": false, "external": true} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := start(t, external, cloud.Instance{
				Name: "pool-a", ID: "i-1", ProviderID: "simcloud://a/pool-a", Addresses: []string{"10.96.0.1"}, Zone: "z", UserData: "of pool",
			})
			var nodes []corev1.Node
			g.Eventually(func() []corev1.Node { nodes = w.nodes(t); return nodes }).WithTimeout(patience).Should(HaveLen(1))
			node := nodes[0]
			g.Expect(node.Name).To(Equal("pool-a"))
			g.Expect(node.Annotations).NotTo(BeEmpty(), "the real machine-controller panics without")
			g.Expect(node.Status.NodeInfo.KubeletVersion).To(Equal("v1.30.14"))
			g.Expect(node.Status.Addresses).To(ContainElement(corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.96.0.1"}))
			if external {
				g.Expect(node.Spec.Taints).To(ConsistOf(HaveField("Key", machines.UninitializedTaint)))
				g.Expect(node.Spec.ProviderID).To(BeEmpty())
				g.Expect(node.Labels).NotTo(HaveKey(corev1.LabelTopologyZone))
				return
			}
			g.Expect(node.Spec.Taints).To(BeEmpty())
			g.Expect(node.Spec.ProviderID).To(Equal("simcloud://a/pool-a"))
			g.Expect(node.Labels).To(HaveKeyWithValue(corev1.LabelTopologyZone, "z"))
		})
	}
}

func TestNodesAreNotRegisteredAgain(t *testing.T) {
	g := NewWithT(t)
	w := start(t, true, cloud.Instance{Name: "pool-a", ID: "i-1", UserData: "of pool"})
	var nodes []corev1.Node
	g.Eventually(func() []corev1.Node { nodes = w.nodes(t); return nodes }).WithTimeout(patience).Should(HaveLen(1))
	g.Expect(w.Delete(t.Context(), &nodes[0])).To(Succeed())
	g.Expect(w.nodes(t)).To(BeEmpty(), "a kubelet registers once")
}

func TestMachinesThatCannotJoin(t *testing.T) {
	w := start(t, true,
		cloud.Instance{Name: "of-the-testbed", ID: "i-1"},
		cloud.Instance{Name: "of-no-one", ID: "i-2", UserData: "#cloud-config\n"},
		cloud.Instance{Name: "too-early", ID: "i-3",
			UserData: "#cloud-config\nwrite_files:\n- path: /opt/bin/bootstrap\n  content: fetch other-kube-system-provisioning-config\n"},
	)
	NewWithT(t).Expect(w.nodes(t)).To(BeEmpty())
}
