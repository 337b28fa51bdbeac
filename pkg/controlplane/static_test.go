package controlplane

import (
	"context"
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// staticSight is a user cluster and what is seen of its KCM.
type staticSight struct {
	recorded  []ucv1.ManagerProcess
	accept    []string
	objects   []client.Object
	rolledOut bool
	unseen    []string
	loops     bool
	pods      []string
}

func (s staticSight) run(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	cluster := staticCluster(s.recorded...)
	cluster.Spec.Handover.AcceptLostManagers = s.accept
	plane, known := reader.StaticControlPlane(t.Context(), cluster, testClient(interceptor.Funcs{}, s.objects...)).Get()
	g.Expect(known).To(BeTrue())
	kcm := plane.KCM
	g.Expect(kcm.RolledOut).To(Equal(s.rolledOut))
	loops := kcm.Arguments.CloudLoops()
	g.Expect(s.loops).To(Equal(slices.Contains(loops, observation.ServiceLoop)), "%q", loops)
	g.Expect(kcm.Unseen).To(HaveLen(len(s.unseen)), "%q", kcm.Unseen)
	for i, want := range s.unseen {
		g.Expect(kcm.Unseen[i]).To(ContainSubstring(want))
	}
	var pods []string
	for _, process := range kcm.Pods {
		pods = append(pods, process.PodName)
	}
	g.Expect(pods).To(Equal(s.pods))
}

const first, second = "kube-controller-manager-cp-0", "kube-controller-manager-cp-1"

// TestStaticPodsWithTheLock: KCM is what its loudest Node is.
func TestStaticPodsWithTheLock(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	seen := func(pods ...*corev1.Pod) observation.Arguments {
		all := objects(controlPlaneNode("cp-0"), controlPlaneNode("cp-1"))
		for _, pod := range pods {
			all = append(all, pod)
		}
		plane, _ := reader.StaticControlPlane(t.Context(), staticCluster(), testClient(interceptor.Funcs{}, all...)).Get()
		return plane.KCM.Arguments
	}
	armed := []string{loudFlag, "--enable-leader-migration=true", "--leader-migration-config=" + handover.LockPath}
	with := func(node string, arguments ...string) *corev1.Pod {
		pod := mirrorOf(node, "x", arguments[0])
		pod.Spec.Containers[0].Command = append([]string{kubeControllerManager}, arguments...)
		return pod
	}
	g.Expect(handover.Armed(seen(with("cp-0", armed...), with("cp-1", armed...)))).To(BeTrue())
	g.Expect(handover.MayRunUnlocked(seen(with("cp-0", armed...), with("cp-1", loudFlag)))).To(BeTrue(), "the second has no lock")
	g.Expect(handover.Armed(seen(with("cp-0", silentFlag), with("cp-1", armed...)))).To(BeTrue(), "the first has no loops")
}

func TestStaticControlPlane(t *testing.T) {
	stray := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "by-hand"},
		Spec: corev1.PodSpec{
			NodeName: "cp-0", Containers: []corev1.Container{{Name: kubeControllerManager, Command: []string{"kcm", loudFlag}}},
		},
	}
	crashing := mirrorOf("cp-0", "new", silentFlag)
	setState(crashing, terminated("containerd://x", "Error"))
	runAll(t, map[string]staticSight{
		"Nodes that agree are rolled out": {
			objects: objects(
				controlPlaneNode("cp-0"), controlPlaneNode("cp-1"), mirrorOf("cp-0", "new", silentFlag), mirrorOf("cp-1", "new", silentFlag),
			),
			rolledOut: true, pods: []string{first, second},
		},
		"of Nodes that do not, the one with loops counts": {
			objects: objects(
				controlPlaneNode("cp-0"), controlPlaneNode("cp-1"), mirrorOf("cp-0", "new", silentFlag), mirrorOf("cp-1", "old", loudFlag),
			),
			loops: true, pods: []string{first, second},
		},
		"a container that does not run is not rolled out": {
			objects: objects(controlPlaneNode("cp-0"), crashing), pods: []string{first},
		},
		"a Node that is not Ready cannot be looked at": {
			objects: objects(controlPlaneNode("cp-0", notReady), mirrorOf("cp-0", "new", silentFlag)),
			unseen:  []string{"Node cp-0 is not Ready"}, pods: []string{first},
		},
		"a Node that is gone cannot be looked at": {
			objects: objects(mirrorOf("cp-0", "new", silentFlag)), unseen: []string{"Node cp-0 is gone"}, pods: []string{first},
		},
		"a pod that is no static pod counts and is named": {
			objects: objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag), stray),
			unseen:  []string{"Pod kube-system/by-hand runs container kube-controller-manager and is no static pod"},
			loops:   true, pods: []string{"by-hand", first},
		},
		"a kubelet that does not serialize static pods is named": {
			objects: objects(
				controlPlaneNode("cp-0", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.22.17" }),
				mirrorOf("cp-0", "new", silentFlag),
			),
			unseen: []string{"Node cp-0 has kubelet v1.22.17"}, pods: []string{first},
		},
		"a kubelet of unknown version is, too": {
			objects: objects(
				controlPlaneNode("cp-0", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "" }), mirrorOf("cp-0", "new", silentFlag),
			),
			unseen: []string{"Node cp-0 has kubelet"}, pods: []string{first},
		},
	})
}

func TestStaticControlPlaneOfEveryNode(t *testing.T) {
	unlabelled := func(node *corev1.Node) { node.Labels = nil }
	runAll(t, map[string]staticSight{
		"a control-plane Node without a mirror pod cannot be looked at": {
			objects: objects(controlPlaneNode("cp-0"), controlPlaneNode("cp-1"), mirrorOf("cp-0", "new", silentFlag)),
			unseen:  []string{"Node cp-1 shows no static pod"}, pods: []string{first},
		},
		"a Node that was recorded has to show its mirror pod without a label, too": {
			recorded: []ucv1.ManagerProcess{staticRecord(func(p *ucv1.ManagerProcess) { p.NodeName, p.PodName = "cp-1", second })},
			objects:  objects(controlPlaneNode("cp-0"), controlPlaneNode("cp-1", unlabelled), mirrorOf("cp-0", "new", silentFlag)),
			unseen:   []string{"Node cp-1 shows no static pod"}, pods: []string{first},
		},
		"a recorded Node that is gone is missed until its process is proven to have ended": {
			recorded: []ucv1.ManagerProcess{staticRecord(func(p *ucv1.ManagerProcess) { p.NodeName, p.PodName = "cp-1", second })},
			objects:  objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
			unseen:   []string{"Node cp-1 is gone"}, pods: []string{first},
		},
		"then it is not missed any more": {
			recorded: []ucv1.ManagerProcess{staticRecord(func(p *ucv1.ManagerProcess) {
				p.NodeName, p.PodName, p.EndedAt = "cp-1", second, microTime(startTime())
			})},
			objects:   objects(controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag)),
			rolledOut: true, pods: []string{first},
		},
		"a lost Node that a person vouches for is left out": {
			recorded: []ucv1.ManagerProcess{staticRecord(func(p *ucv1.ManagerProcess) { p.NodeName, p.PodName = "cp-1", second })},
			accept:   []string{second},
			objects: objects(controlPlaneNode("cp-0"), controlPlaneNode("cp-1", notReady),
				mirrorOf("cp-0", "new", silentFlag), mirrorOf("cp-1", "old", loudFlag)),
			rolledOut: true, pods: []string{first},
		},
		"a person cannot vouch for a Node that is Ready": {
			accept: []string{second},
			objects: objects(controlPlaneNode("cp-0"), controlPlaneNode("cp-1"),
				mirrorOf("cp-0", "new", silentFlag), mirrorOf("cp-1", "old", loudFlag)),
			loops: true, pods: []string{first, second},
		},
	})
}

func TestStaticControlPlaneThatIsNotThere(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	cluster, empty := staticCluster(), testClient(interceptor.Funcs{}, controlPlaneNode("cp-0"))
	g.Expect(reader.StaticControlPlane(t.Context(), cluster, nil).IsUnknown()).To(BeTrue(), "without a connection")
	g.Expect(reader.StaticControlPlane(t.Context(), cluster, empty).IsUnknown()).To(
		BeTrue(), "after the start, pods that are missing cannot be looked at",
	)
	cluster.Status.Handover = nil
	g.Expect(reader.StaticControlPlane(t.Context(), cluster, empty).IsAbsent()).To(BeTrue(), "before, there is none")
	failing := testClient(interceptor.Funcs{List: func(
		context.Context, client.WithWatch, client.ObjectList, ...client.ListOption,
	) error {
		return errors.New("timeout")
	}})
	g.Expect(reader.StaticControlPlane(t.Context(), cluster, failing).Why()).To(ContainSubstring("timeout"))
}

func TestStaticControlPlaneReadsEveryPage(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	pages := testClient(interceptor.Funcs{List: func(
		ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption,
	) error {
		all := &corev1.PodList{}
		pods, ok := list.(*corev1.PodList)
		if !ok {
			return c.List(ctx, list, options...)
		}
		if err := c.List(ctx, all); err != nil {
			return err
		}
		chosen := &client.ListOptions{}
		chosen.ApplyOptions(options)
		g.Expect(chosen.Limit).To(BeNumerically(">", 0))
		if chosen.Continue == "" {
			pods.Items, pods.Continue = all.Items[:1], "next"
		} else {
			pods.Items = all.Items[1:]
		}
		return nil
	}}, controlPlaneNode("cp-0"), controlPlaneNode("cp-1"), mirrorOf("cp-0", "new", silentFlag), mirrorOf("cp-1", "old", loudFlag))
	plane := reader.StaticControlPlane(t.Context(), staticCluster(), pages).Value()
	g.Expect(plane.KCM.Pods).To(HaveLen(2))
	g.Expect(plane.KCM.Replicas).To(Equal(int32(2)))
}

func TestStaticControlPlaneHasTheOthersThatAreNamed(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(nil)
	apiServer := mirrorOf("cp-0", "api", "--feature-gates=A=true")
	apiServer.Name, apiServer.UID, apiServer.Spec.Containers[0].Name = "kube-apiserver-cp-0", "api", kubeAPIServer
	setState(apiServer, running("containerd://api"))
	cluster := staticCluster()
	cluster.Spec.ControlPlane.KubeAPIServer, cluster.Spec.ControlPlane.KubeScheduler = &ucv1.ControlPlaneComponent{},
		&ucv1.ControlPlaneComponent{}
	user := testClient(interceptor.Funcs{}, controlPlaneNode("cp-0"), mirrorOf("cp-0", "new", silentFlag), apiServer)
	plane := reader.StaticControlPlane(t.Context(), cluster, user).Value()
	g.Expect(plane.Others).To(HaveLen(2))
	g.Expect(plane.Others[0].Arguments.Flags).To(HaveKeyWithValue("feature-gates", "A=true"))
	g.Expect(plane.Others[0].RolledOut).To(BeTrue())
	g.Expect(plane.Others[1].Arguments.Problem).To(Equal("no Node shows a static pod with container kube-scheduler"))
	g.Expect(plane.Others[1].RolledOut).To(BeFalse())
	g.Expect(plane.ManagementNodes["cp-0"]).To(
		Equal(observation.ManagementNode{BootID: "boot-1", SystemUUID: "machine-cp-0", Ready: true}),
	)
	g.Expect(plane.KCM.Pods[0].Hostname).To(Equal("host-cp-0"))
}
