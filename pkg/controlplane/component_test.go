package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// rollout is a Deployment after a change: the ReplicaSets of the old and the new template, and a pod of each.
type rollout struct {
	deployment     *appsv1.Deployment
	oldSet, newSet *appsv1.ReplicaSet
	oldPod, newPod *corev1.Pod
	recorded       map[types.UID]ucv1.ManagerProcess
}

func newRollout() *rollout {
	r := &rollout{deployment: testDeployment(kubeControllerManager, "--v=1")}
	r.oldSet = testSet(r.deployment, "old")
	r.deployment.Spec.Template.Spec.Containers[0].Args = []string{"--v=2"}
	r.newSet = testSet(r.deployment, "new")
	r.oldPod, r.newPod = testPod(r.oldSet, "a"), testPod(r.newSet, "a")
	return r
}

func (r *rollout) workloads() workloads {
	work := workloads{sets: map[types.UID]*appsv1.ReplicaSet{}}
	for _, set := range []*appsv1.ReplicaSet{r.oldSet, r.newSet} {
		if set != nil {
			work.sets[set.UID] = set
		}
	}
	for _, pod := range []*corev1.Pod{r.oldPod, r.newPod} {
		if pod != nil {
			work.pods = append(work.pods, *pod)
		}
	}
	return work
}

// rolled is how a rollout is seen.
type rolled struct {
	change    func(r *rollout)
	pods      []string
	rolledOut bool
}

func (c rolled) run(t *testing.T) {
	g, r := NewWithT(t), newRollout()
	c.change(r)
	component, err := newComponent(r.deployment, kubeControllerManager, r.workloads(), r.recorded)
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, pod := range component.Pods {
		names = append(names, pod.PodName)
	}
	g.Expect(names).To(Equal(c.pods))
	g.Expect(component.RolledOut).To(Equal(c.rolledOut))
}

const oldPod, newPod = "kube-controller-manager-old-a", "kube-controller-manager-new-a"

func TestNewComponentFindsThePods(t *testing.T) {
	runAll(t, map[string]rolled{
		"an old pod is left": {
			change: func(*rollout) {}, pods: []string{newPod, oldPod},
		},
		"an old pod is left that terminates": {
			change: func(r *rollout) { deleting(r.oldPod) }, pods: []string{newPod, oldPod},
		},
		"an old pod is left that the kubelet evicted and whose container was seen to end": {
			change: func(r *rollout) {
				r.oldPod.Status.Phase = corev1.PodFailed
				setState(r.oldPod, terminated("a", "Error"))
			},
			pods: []string{newPod, oldPod}, rolledOut: true,
		},
		"an old pod is left that the garbage collector called failed": {
			change: func(r *rollout) { r.oldPod.Status.Phase = corev1.PodFailed }, pods: []string{newPod, oldPod},
		},
		"no old pod is left": {
			change: func(r *rollout) { r.oldPod = nil }, pods: []string{newPod}, rolledOut: true,
		},
		"a pod whose ReplicaSet is gone is old": {
			change: func(r *rollout) { r.oldSet = nil }, pods: []string{newPod, oldPod},
		},
		"a pod whose ReplicaSet belongs to no one is old": {
			change: func(r *rollout) { r.oldSet.OwnerReferences = nil }, pods: []string{newPod, oldPod},
		},
		"a pod of a deleted Deployment of the same name is old": {
			change: func(r *rollout) { r.oldSet.OwnerReferences[0].UID = "former" }, pods: []string{newPod, oldPod},
		},
		"a pod without owner that the Deployment would select is old": {
			change: func(r *rollout) { r.oldPod.OwnerReferences = nil }, pods: []string{newPod, oldPod},
		},
		"a pod that lost its owner and its labels still runs the container": {
			change: func(r *rollout) { r.oldPod.OwnerReferences, r.oldPod.Labels = nil, nil }, pods: []string{newPod, oldPod},
		},
		"a pod that was recorded belongs to it whatever it looks like": {
			change: func(r *rollout) {
				r.oldPod.OwnerReferences, r.oldPod.Labels, r.oldPod.Spec.Containers[0].Name = nil, nil, "other"
				r.recorded = map[types.UID]ucv1.ManagerProcess{r.oldPod.UID: {}}
			},
			pods: []string{newPod, oldPod},
		},
		"a pod of another Deployment is none of it": {
			change: func(r *rollout) {
				r.oldSet.OwnerReferences[0].UID, r.oldSet.OwnerReferences[0].Name = "other", "other"
			},
			pods: []string{newPod}, rolledOut: true,
		},
		"a pod of a StatefulSet is none of it": {
			change: func(r *rollout) { r.oldPod.OwnerReferences[0].Kind = "StatefulSet" }, pods: []string{newPod}, rolledOut: true,
		},
	})
}

func TestNewComponentReadsTheStatus(t *testing.T) {
	runAll(t, map[string]rolled{
		"the Deployment's controller has not seen the newest template": {
			change: func(r *rollout) { r.oldPod = nil; r.deployment.Generation = 3 }, pods: []string{newPod},
		},
		"a replica is not available": {
			change: func(r *rollout) { r.oldPod = nil; r.deployment.Status.AvailableReplicas = 0 }, pods: []string{newPod},
		},
		"a replica is not updated": {
			change: func(r *rollout) { r.oldPod = nil; r.deployment.Status.UpdatedReplicas = 0 }, pods: []string{newPod},
		},
		"a surge replica is still counted": {
			change: func(r *rollout) { r.oldPod = nil; r.deployment.Status.Replicas = 2 }, pods: []string{newPod},
		},
		"scaled to zero": {
			change: func(r *rollout) {
				r.oldPod, r.newPod, r.deployment.Spec.Replicas = nil, nil, new(int32(0))
				r.deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: 2}
			},
			rolledOut: true,
		},
	})
}
