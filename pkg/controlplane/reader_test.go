package controlplane

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// failsOn makes reads of one kind fail.
func failsOn[T client.Object, L client.ObjectList]() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, matches := obj.(T); matches {
				return errors.New("the server is on fire")
			}
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, matches := list.(L); matches {
				return errors.New("the server is on fire")
			}
			return c.List(ctx, list, opts...)
		},
	}
}

func TestControlPlane(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	kcm := testDeployment(kubeControllerManager, "--cloud-provider=openstack")
	apiserver := testDeployment("my-apiserver", "--feature-gates=A=true")
	set := testSet(kcm, "1")
	vanished := ucv1.ManagerProcess{PodUID: "gone", PodName: "gone", NodeName: "node-2", BootID: "boot-2"}
	past := ucv1.ManagerProcess{PodUID: "past", NodeName: "node-3", EndedAt: microTime(startTime())}
	cluster := testCluster(vanished, past)
	cluster.Spec.ControlPlane.KubeAPIServer = &ucv1.ControlPlaneComponent{
		DeploymentReference: ucv1.DeploymentReference{Name: "my-apiserver", Container: "my-apiserver"},
	}
	cluster.Spec.ControlPlane.KubeScheduler = &ucv1.ControlPlaneComponent{}
	reader, _ := testReader(testClient(interceptor.Funcs{}, kcm, apiserver, set, testPod(set, "b"), testPod(set, "a"),
		testNode("node-1", "boot-1"), testNode("node-2", "boot-2"), testNode("node-3", "boot-3"), testLease("node-2", startTime())))

	plane, known := lookAt(ctx, reader, cluster).Get()
	g.Expect(known).To(BeTrue())
	g.Expect(plane.KCM.Ref).To(Equal(observation.Ref{
		Kind: "Deployment", Namespace: testNamespace, Name: kubeControllerManager, UID: kubeControllerManager,
	}))
	g.Expect(plane.KCM.Container).To(Equal(kubeControllerManager))
	g.Expect(plane.KCM.Arguments.Flags).To(Equal(map[string]string{"cloud-provider": "openstack"}))
	g.Expect(plane.KCM.Replicas).To(Equal(int32(1)))
	g.Expect(plane.KCM.RolledOut).To(BeTrue())
	g.Expect(plane.KCM.Pods).To(HaveLen(2))
	g.Expect(plane.KCM.Pods[0].PodName).To(Equal("kube-controller-manager-1-a"))
	g.Expect(plane.KCM.Pods[0].BootID).To(Equal("boot-1"))
	g.Expect(plane.Others).To(HaveLen(2))
	g.Expect(plane.Others[0].Arguments.Flags).To(Equal(map[string]string{"feature-gates": "A=true"}))
	g.Expect(plane.Others[0].Pods).To(BeEmpty())
	g.Expect(plane.Others[1].Name).To(Equal(kubeScheduler))
	g.Expect(plane.Others[1].Arguments.Problem).To(ContainSubstring("does not exist"))
	g.Expect(plane.Others[1].RolledOut).To(BeFalse())
	g.Expect(plane.ManagementNodes).To(Equal(map[string]observation.ManagementNode{
		"node-1": {BootID: "boot-1"}, "node-2": {BootID: "boot-2"},
	}), "neither the node of a process that has ended nor a first look as a renewal")
}

func TestControlPlaneIsAbsentWithoutItsDeployment(t *testing.T) {
	g := NewWithT(t)
	reader, _ := testReader(testClient(interceptor.Funcs{}))
	g.Expect(lookAt(t.Context(), reader, testCluster()).IsAbsent()).To(BeTrue())
}

func TestControlPlaneIsUnknown(t *testing.T) {
	tests := map[string]struct {
		funcs interceptor.Funcs
		why   string
	}{
		"when Deployments cannot be read":   {failsOn[*appsv1.Deployment, *appsv1.DeploymentList](), "list Deployments"},
		"when ReplicaSets cannot be listed": {failsOn[*appsv1.ReplicaSet, *appsv1.ReplicaSetList](), "list ReplicaSets"},
		"when Pods cannot be listed":        {failsOn[*corev1.Pod, *corev1.PodList](), "list Pods"},
		"when Nodes cannot be read":         {failsOn[*corev1.Node, *corev1.NodeList](), "read Node node-1"},
		"when a node's Lease cannot be read": {
			failsOn[*coordinationv1.Lease, *coordinationv1.LeaseList](),
			"read Lease kube-node-lease/node-1",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			kcm := testDeployment(kubeControllerManager, "--v=2")
			set := testSet(kcm, "1")
			reader, _ := testReader(testClient(test.funcs, kcm, set, testPod(set, "a"), testNode("node-1", "boot-1")))
			observed := lookAt(t.Context(), reader, clusterWithAProcessOn("node-1"))
			g.Expect(observed.IsUnknown()).To(BeTrue())
			g.Expect(observed.Why()).To(And(ContainSubstring(test.why), ContainSubstring("on fire")))
		})
	}
}

func TestControlPlaneSeesANodeLeaseBeingRenewed(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	kcm := testDeployment(kubeControllerManager, "--v=2")
	set := testSet(kcm, "1")
	lease := testLease("node-1", startTime().Add(-time.Hour))
	c := testClient(interceptor.Funcs{}, kcm, set, testPod(set, "a"), testNode("node-1", "boot-1"), lease)
	reader, clock := testReader(c)
	cluster := clusterWithAProcessOn("node-1")
	look := func() time.Time {
		plane, known := lookAt(ctx, reader, cluster).Get()
		g.Expect(known).To(BeTrue())
		return plane.ManagementNodes["node-1"].LeaseRenewed
	}
	g.Expect(look()).To(BeZero())
	clock.SetTime(startTime().Add(10 * time.Second))
	g.Expect(look()).To(BeZero(), "nothing has changed")

	g.Expect(c.Update(ctx, testLeaseOf(lease, startTime()))).To(Succeed())
	clock.SetTime(startTime().Add(20 * time.Second))
	g.Expect(look()).To(Equal(startTime().Add(10*time.Second)), "the last look before the change")

	cluster.Status.Handover.Processes[0].EndedAt = microTime(startTime())
	g.Expect(look()).To(BeZero(), "no one asks whether a kubelet outlived what was seen to end")
}

// clusterWithAProcessOn a Node, which was not seen to end.
func clusterWithAProcessOn(node string) *ucv1.Cluster {
	cluster := testCluster()
	cluster.Status.Handover = &ucv1.HandoverStatus{Processes: []ucv1.ManagerProcess{{PodUID: "gone", NodeName: node}}}
	return cluster
}

// The proof by a node's Lease needs looks that follow each other, and no watch tells of that Lease.
func TestANodeIsLookedAtInEachPassWhileAProcessWasNotSeenToEnd(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	kcm := testDeployment(kubeControllerManager, "--v=2")
	set, lease := testSet(kcm, "1"), testLease("node-2", startTime())
	c := testClient(
		interceptor.Funcs{}, kcm, set, testPod(set, "a"), testNode("node-1", "boot-1"), testNode("node-2", "boot-2"), lease,
	)
	reader, clock := testReader(c)
	reader.Changes = NewChanges()
	cluster := clusterWithAProcessOn("node-2")
	renewed := func(seconds int) time.Time {
		at := startTime().Add(time.Duration(seconds) * time.Second)
		g.Expect(c.Update(ctx, testLeaseOf(lease, at))).To(Succeed())
		clock.SetTime(at)
		return lookAt(ctx, reader, cluster).Value().ManagementNodes["node-2"].LeaseRenewed
	}
	g.Expect(renewed(1)).To(BeZero(), "the first look")
	g.Expect(renewed(11)).To(Equal(startTime().Add(time.Second)), "although nothing of the control plane changed")
	cluster.Status.Handover.Processes[0].EndedAt = microTime(startTime())
	g.Expect(renewed(21)).To(BeZero(), "what was read first is kept")
}
