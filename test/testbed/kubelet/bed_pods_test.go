package kubelet_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// TestKubelet runs its parts in order on one cluster, because that is the dear thing.
func TestKubelet(t *testing.T) {
	b := newBed(t)
	t.Run("nodes become and stay ready", func(t *testing.T) { b.t = t; b.nodes() })
	t.Run("a pod's process has its view of the world", func(t *testing.T) { b.t = t; b.view() })
	t.Run("a rollout ends processes before their pods", func(t *testing.T) { b.t = t; b.rollout() })
	t.Run("a process that ends is restarted", func(t *testing.T) { b.t = t; b.restarts() })
	t.Run("a process that ignores SIGTERM is killed", func(t *testing.T) { b.t = t; b.stubborn() })
	t.Run("a silent node lets its processes run", func(t *testing.T) { b.t = t; b.silence() })
	t.Run("a process can outlive its pod", func(t *testing.T) { b.t = t; b.outlives() })
	t.Run("other images are faked", func(t *testing.T) { b.t = t; b.faked() })
	t.Run("static pods follow their file", func(t *testing.T) { b.t = t; b.static() })
	t.Run("nothing outlives the kubelet", func(t *testing.T) {
		b.t = t
		NewWithT(t).Expect(b.entries("")).NotTo(BeEmpty())
		b.stop()
		NewWithT(t).Expect(b.entries("")).To(BeEmpty())
	})
}

func (b *bed) nodes() {
	g := NewWithT(b.t)
	g.Eventually(func(g Gomega) {
		node, err := b.client.CoreV1().Nodes().Get(b.t.Context(), "node-a", metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(node.Status.NodeInfo.BootID).NotTo(BeEmpty())
		g.Expect(node.Spec.Taints).To(BeEmpty(), "the node lifecycle controller believes it")
	}, deadline).Should(Succeed())
	renewed := func() metav1.MicroTime {
		lease, err := b.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(b.t.Context(), "node-a", metav1.GetOptions{})
		if err != nil {
			return metav1.MicroTime{}
		}
		return *lease.Spec.RenewTime
	}
	g.Eventually(renewed, deadline).ShouldNot(BeZero())
	first := renewed()
	g.Eventually(renewed, deadline).ShouldNot(Equal(first))
}

func (b *bed) view() {
	g := NewWithT(b.t)
	ctx := b.t.Context()
	// The Deployment comes first: a kubelet waits for what a Pod needs.
	_, err := b.client.AppsV1().Deployments(namespace).Create(ctx, deployment("east"), metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func(g Gomega) {
		list, err := b.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=east"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).To(HaveLen(2))
		g.Expect(list.Items[0].Status.ContainerStatuses).To(HaveLen(1))
		g.Expect(list.Items[0].Status.ContainerStatuses[0].State.Waiting.Message).To(ContainSubstring("read secret cloud"))
	}, deadline).Should(Succeed())
	_, err = b.client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "cloud"}, Data: map[string][]byte{"cloud.conf": []byte("cluster=east")},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	for _, pod := range b.ready("east", 2) {
		g.Expect(b.ask(&pod, "/hostname")).To(Equal(pod.Name))
		g.Expect(b.ask(&pod, "/file", "path", "/etc/cloud/cloud.conf")).To(Equal("cluster=east"))
		g.Expect(b.ask(&pod, "/file", "path", "/var/run/secrets/kubernetes.io/serviceaccount/namespace")).To(Equal(namespace))
		g.Expect(b.ask(&pod, "/file", "path", "/var/run/secrets/kubernetes.io/serviceaccount/token")).To(HavePrefix("ey"))
		g.Expect(b.ask(&pod, "/env", "name", "KUBERNETES_SERVICE_HOST")).To(Equal("127.0.0.1"))
		g.Expect(b.ask(&pod, "/env", "name", "HOME")).To(BeEmpty())
		g.Expect(b.log(&pod)).To(Equal("listening on " + pod.Status.PodIP + ":8080"))
		g.Expect(b.lives(&pod)).To(BeTrue())
		g.Expect(b.entries(pod.Name)[0].PodUID).To(Equal(string(pod.UID)))
	}
	g.Expect("/etc/cloud").NotTo(BeADirectory())
}

func (b *bed) rollout() {
	g := NewWithT(b.t)
	before := b.ready("east", 2)
	ended := b.watchEndings(b.lives)
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"server","env":[{"name":"REVISION","value":"2"}]}]}}}}`
	_, err := b.client.AppsV1().Deployments(namespace).
		Patch(b.t.Context(), "east", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, pod := range before {
		g.Eventually(func() bool { _, ok := ended(pod.UID); return ok }, deadline).Should(BeTrue())
		end, _ := ended(pod.UID)
		g.Expect(end.alive).To(BeFalse(), "the process ended before its pod was gone")
		g.Expect(end.status.Phase).To(Equal(corev1.PodSucceeded))
		terminated := end.status.ContainerStatuses[0].State.Terminated
		g.Expect(terminated).NotTo(BeNil())
		g.Expect(terminated.ContainerID).To(Equal(pod.Status.ContainerStatuses[0].ContainerID))
		g.Expect(terminated.Reason).To(Equal("Completed"))
	}
	for _, pod := range b.ready("east", 2) {
		g.Expect(b.ask(&pod, "/env", "name", "REVISION")).To(Equal("2"))
	}
}

func (b *bed) restarts() {
	g := NewWithT(b.t)
	pods := b.ready("east", 2)
	crashed, sick := &pods[0], &pods[1]
	restarted := func(pod *corev1.Pod) func(Gomega) {
		return func(g Gomega) {
			now := b.get(pod)
			g.Expect(now).NotTo(BeNil())
			g.Expect(isReady(now)).To(BeTrue())
			status := now.Status.ContainerStatuses[0]
			g.Expect(status.RestartCount).To(BeEquivalentTo(1))
			g.Expect(status.LastTerminationState.Terminated).NotTo(BeNil())
			g.Expect(status.LastTerminationState.Terminated.ContainerID).To(Equal(pod.Status.ContainerStatuses[0].ContainerID))
			g.Expect(status.ContainerID).NotTo(Equal(pod.Status.ContainerStatuses[0].ContainerID))
		}
	}
	b.ask(crashed, "/exit", "code", "3")
	g.Eventually(restarted(crashed), deadline).Should(Succeed())
	g.Expect(b.get(crashed).Status.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode).To(BeEquivalentTo(3))

	b.ask(sick, "/sicken")
	g.Eventually(restarted(sick), deadline).Should(Succeed())
	g.Expect(b.lives(sick)).To(BeTrue())
}

func (b *bed) stubborn() {
	g := NewWithT(b.t)
	wanted := deployment("stubborn", corev1.EnvVar{Name: "STUBBORN", Value: "yes"})
	wanted.Spec.Replicas = ptr.To[int32](1)
	_, err := b.client.AppsV1().Deployments(namespace).Create(b.t.Context(), wanted, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	pod := b.ready("stubborn", 1)[0]
	ended := b.watchEndings(b.lives)
	b.delete(&pod, metav1.DeleteOptions{})
	g.Eventually(func() bool { _, ok := ended(pod.UID); return ok }, deadline).Should(BeTrue())
	end, _ := ended(pod.UID)
	g.Expect(end.alive).To(BeFalse())
	terminated := end.status.ContainerStatuses[0].State.Terminated
	g.Expect(terminated).NotTo(BeNil())
	g.Expect(terminated.ExitCode).To(BeEquivalentTo(137))
	g.Expect(terminated.Reason).To(Equal("Error"))
	g.Expect(b.log(&pod)).To(HaveSuffix("terminated"))
	g.Expect(b.client.AppsV1().Deployments(namespace).Delete(b.t.Context(), "stubborn", metav1.DeleteOptions{})).To(Succeed())
}

func (b *bed) silence() {
	g := NewWithT(b.t)
	pods := b.ready("east", 2)
	for _, pod := range pods {
		b.kubelet.SetNodeSilent(pod.Spec.NodeName, true)
	}
	waits, forced := &pods[0], &pods[1]
	b.delete(waits, metav1.DeleteOptions{})
	b.delete(forced, force())
	g.Consistently(func() bool {
		return b.get(waits) != nil && b.lives(waits) && b.get(forced) == nil && b.lives(forced)
	}, "4s", "200ms").Should(BeTrue())
	for _, pod := range pods {
		b.kubelet.SetNodeSilent(pod.Spec.NodeName, false)
	}
	g.Eventually(func() bool { return b.get(waits) == nil && !b.lives(waits) && !b.lives(forced) }, deadline).Should(BeTrue())
}

func (b *bed) outlives() {
	g := NewWithT(b.t)
	pod := b.ready("east", 2)[0]
	b.outlive.Store(pod.Name, true)
	b.delete(&pod, force())
	b.ready("east", 2)
	g.Expect(b.get(&pod)).To(BeNil())
	g.Consistently(func() bool { return b.lives(&pod) }, "3s", "200ms").Should(BeTrue())
	b.outlive.Delete(pod.Name)
	g.Eventually(func() bool { return b.lives(&pod) }, deadline).Should(BeFalse())
}

func (b *bed) faked() {
	g := NewWithT(b.t)
	wanted := deployment("faked")
	wanted.Spec.Template.Spec.Containers[0].Image = "registry.example/nothing:1"
	_, err := b.client.AppsV1().Deployments(namespace).Create(b.t.Context(), wanted, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	pod := b.ready("faked", 2)[0]
	g.Expect(b.entries("faked")).To(BeEmpty())
	ended := b.watchEndings(b.lives)
	b.delete(&pod, metav1.DeleteOptions{})
	g.Eventually(func() bool { _, ok := ended(pod.UID); return ok }, deadline).Should(BeTrue())
	end, _ := ended(pod.UID)
	g.Expect(end.status.ContainerStatuses[0].State.Terminated).NotTo(BeNil())
	b.ready("faked", 2)
}

func (b *bed) static() {
	g := NewWithT(b.t)
	manifest := func(env string) {
		content := `{metadata: {name: solo, namespace: user-east, labels: {app: solo}}, spec: {hostNetwork: true,
		  terminationGracePeriodSeconds: 2, containers: [{name: server, image: registry.example/tiny-server:1, args: ['$(POD_IP):8080'],
		  env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: REVISION, value: "` + env + `"}],
		  volumeMounts: [{name: etc, mountPath: /etc/kubernetes}]}],
		  volumes: [{name: etc, hostPath: {path: /etc/kubernetes}}]}}`
		g.Expect(os.WriteFile(filepath.Join(b.manifests, "node-a", "solo.yaml"), []byte(content), 0o600)).To(Succeed())
	}
	etc := filepath.Join(b.kubelet.NodeRoot("node-a"), "etc", "kubernetes")
	g.Expect(os.MkdirAll(etc, 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(etc, "ca.crt"), []byte("x"), 0o600)).To(Succeed())
	g.Expect(os.Mkdir(filepath.Join(b.manifests, "node-a"), 0o755)).To(Succeed())
	manifest("1")
	first := b.ready("solo", 1)[0]
	g.Expect(first.Name).To(Equal("solo-node-a"))
	g.Eventually(func() string { return b.ask(&first, "/env", "name", "REVISION") }, deadline).Should(Equal("1"))
	g.Expect(b.ask(&first, "/hostname")).To(Equal("node-a"))
	g.Expect(b.ask(&first, "/file", "path", "/etc/kubernetes/ca.crt")).To(Equal("x"))

	ended := b.watchEndings(b.lives)
	manifest("2")
	g.Eventually(func() bool { _, ok := ended(first.UID); return ok }, deadline).Should(BeTrue())
	end, _ := ended(first.UID)
	g.Expect(end.alive).To(BeFalse())
	second := b.ready("solo", 1)[0]
	g.Expect(second.Annotations["kubernetes.io/config.hash"]).NotTo(Equal(first.Annotations["kubernetes.io/config.hash"]))
	g.Expect(os.Remove(filepath.Join(b.manifests, "node-a", "solo.yaml"))).To(Succeed())
	g.Eventually(func() bool { return b.get(&second) == nil && !b.lives(&second) }, deadline).Should(BeTrue())
}
