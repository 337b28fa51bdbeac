package integration_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// staticPods plays the kubelets of an External control plane, and the administrator who edits their manifests.
type staticPods struct {
	*world
	// manifests are the arguments on each Node; edits counts how often each was written.
	manifests map[string][]string
	edits     map[string]int
	// holder is the Node whose KCM holds the Lease.
	holder string
}

// staticControlPlane has KCM on these Nodes, the first of which leads, and the machine-controller beside the Cluster.
func (w *world) staticControlPlane(arguments []string, nodes ...string) *staticPods {
	w.t.Helper()
	w.managementNode()
	for _, name := range machineControllers() {
		w.deploy(name, 1, name, "-logtostderr")
	}
	s := &staticPods{world: w, manifests: map[string][]string{}, edits: map[string]int{}, holder: nodes[0]}
	g := NewWithT(w.t)
	g.Expect(
		w.user.client.DeleteAllOf(
			w.t.Context(),
			&corev1.Pod{},
			client.InNamespace(metav1.NamespaceSystem),
			client.GracePeriodSeconds(0),
		),
	).To(Succeed())
	for _, name := range nodes {
		w.node(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}},
			Spec:       corev1.NodeSpec{ProviderID: "simcloud://" + name},
		})
		node := &corev1.Node{}
		g.Expect(w.user.client.Get(w.t.Context(), client.ObjectKey{Name: name}, node)).To(Succeed())
		node.Status.NodeInfo = corev1.NodeSystemInfo{BootID: "boot-" + name, SystemUUID: "machine-" + name, KubeletVersion: "v1.30.14"}
		g.Expect(w.user.client.Status().Update(w.t.Context(), node)).To(Succeed())
		s.write(name, arguments)
	}
	s.renewKCM()
	return s
}

// write puts a manifest on a Node, whose kubelet ends the old pod before it starts the new one.
func (s *staticPods) write(node string, arguments []string) {
	s.t.Helper()
	s.manifests[node] = slices.Clone(arguments)
	s.edits[node]++
	s.remove(node)
	s.mirror(node)
}

func (s *staticPods) podName(node string) string { return kcm + "-" + node }

// remove takes the mirror pod away, as its kubelet or anybody can.
func (s *staticPods) remove(node string) {
	s.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: s.podName(node)}}
	NewWithT(s.t).Expect(client.IgnoreNotFound(s.user.client.Delete(s.t.Context(), pod, client.GracePeriodSeconds(0)))).To(Succeed())
}

// mirror makes the mirror pod of the Node's manifest.
func (s *staticPods) mirror(name string) {
	s.t.Helper()
	g := NewWithT(s.t)
	node := &corev1.Node{}
	g.Expect(s.user.client.Get(s.t.Context(), client.ObjectKey{Name: name}, node)).To(Succeed())
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: s.podName(name),
			Annotations:     map[string]string{"kubernetes.io/config.mirror": fmt.Sprintf("hash-%s-%d", name, s.edits[name])},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(node, corev1.SchemeGroupVersion.WithKind("Node"))},
		},
		Spec: corev1.PodSpec{
			NodeName: name, HostNetwork: true,
			Containers: []corev1.Container{{Name: kcm, Image: "registry.example/" + kcm +
				":v1.30.14", Command: append([]string{kcm}, s.manifests[name]...)}},
		},
	}
	g.Expect(s.user.client.Create(s.t.Context(), pod)).To(Succeed())
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: kcm, ContainerID: fmt.Sprintf("containerd://%s-%d", name, s.edits[name]), Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(s.clock.Now())}},
		}},
	}
	g.Expect(s.user.client.Status().Update(s.t.Context(), pod)).To(Succeed())
}

// renewKCM has the holder renew KCM's Lease: a process that was restarted has another identity.
func (s *staticPods) renewKCM() {
	s.t.Helper()
	identity := fmt.Sprintf("%s_%d", s.holder, s.edits[s.holder])
	NewWithT(s.t).Expect(s.renew(s.user.client, kcm, identity)).To(Succeed())
}

// everybody else plays, and KCM's leader renews.
func (s *staticPods) play() {
	s.t.Helper()
	s.renewKCM()
	s.playControlPlane()
	s.playAddons()
	s.playMachines()
}

// left are the Nodes that the instructions say are not done, in their order.
func (s *staticPods) left() (nodes []string) {
	s.t.Helper()
	for _, instruction := range s.status().Instructions {
		if !instruction.Done {
			nodes = append(nodes, instruction.Node)
		}
	}
	return nodes
}

// do is the administrator who follows the instruction of one Node to the letter.
func (s *staticPods) do(node string) {
	s.t.Helper()
	g := NewWithT(s.t)
	at := slices.IndexFunc(s.status().Instructions, func(i ucv1.Instruction) bool { return i.Node == node })
	g.Expect(at).To(BeNumerically(">=", 0), "there is an instruction for Node %s", node)
	instruction := s.status().Instructions[at]
	g.Expect(instruction.Component).To(Equal(kcm))
	s.write(node, followed(s.manifests[node], instruction))
}

// administer is the administrator who does whatever comes next, one after the other.
func (s *staticPods) administer() {
	s.t.Helper()
	for _, instruction := range s.status().Instructions {
		if instruction.Done {
			continue
		}
		if len(instruction.Set)+len(instruction.Remove) > 0 {
			s.do(instruction.Node)
		}
		return
	}
}

// followed are arguments that were changed as the instruction says.
func followed(arguments []string, instruction ucv1.Instruction) []string {
	name := func(argument string) string {
		flag, _, _ := strings.Cut(argument, "=")
		return flag
	}
	after := slices.DeleteFunc(
		slices.Clone(arguments),
		func(argument string) bool { return slices.Contains(instruction.Remove, name(argument)) },
	)
	for _, set := range instruction.Set {
		if at := slices.IndexFunc(after, func(argument string) bool { return name(argument) == name(set) }); at >= 0 {
			after[at] = set
		} else {
			after = append(after, set)
		}
	}
	return after
}
