package integration_test

import (
	"fmt"
	"slices"
	"strconv"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

// pool makes a MachineDeployment whose Machines have joined in-tree.
func (w *world) pool(name string, replicas int32) *machines.MachineDeployment {
	w.t.Helper()
	labels := map[string]string{"pool": name}
	deployment := &machines.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name},
		Spec: machines.MachineDeploymentSpec{
			Replicas: &replicas, Selector: metav1.LabelSelector{MatchLabels: labels},
			Template: machines.MachineTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	}
	NewWithT(w.t).Expect(w.user.client.Create(w.t.Context(), deployment)).To(Succeed())
	w.playPool(deployment, false)
	return deployment
}

// playMachines is one move of the machine-controller, whose new Machines are what its flag says, and of the CCM, which
// initializes their Nodes.
func (w *world) playMachines() {
	w.t.Helper()
	deployments := &machines.MachineDeploymentList{}
	NewWithT(w.t).Expect(w.user.client.List(w.t.Context(), deployments)).To(Succeed())
	for i := range deployments.Items {
		w.playPool(&deployments.Items[i], w.external())
	}
	if w.playCCM() && !w.idleCCM {
		w.initializeNodes()
	}
}

// external says what the machine-controller hands out now; where there is none, everything is.
func (w *world) external() bool {
	w.t.Helper()
	deployment := &appsv1.Deployment{}
	err := suite.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "machine-controller"}, deployment)
	NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err != nil || slices.Contains(deployment.Spec.Template.Spec.Containers[0].Command, "-node-external-cloud-provider=true")
}

func (w *world) playPool(deployment *machines.MachineDeployment, external bool) {
	w.t.Helper()
	g := NewWithT(w.t)
	sets := &machines.MachineSetList{}
	g.Expect(w.user.client.List(w.t.Context(), sets, client.MatchingLabels(deployment.Spec.Selector.MatchLabels))).To(Succeed())
	var newest *machines.MachineSet
	for i := range sets.Items {
		if equality.Semantic.DeepEqual(sets.Items[i].Spec.Template, deployment.Spec.Template) {
			newest = &sets.Items[i]
			continue
		}
		w.shrink(deployment, &sets.Items[i])
	}
	if newest == nil && !deployment.Spec.Paused {
		newest = w.machineSet(deployment, len(sets.Items))
		for i := range *deployment.Spec.Replicas {
			w.machine(newest, fmt.Sprintf("%s-%d", newest.Name, i), external)
		}
	}
	replicas := *deployment.Spec.Replicas
	if deployment.Status.ObservedGeneration == deployment.Generation {
		return
	}
	deployment.Status = machines.MachineDeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           replicas,
		UpdatedReplicas:    replicas,
		ReadyReplicas:      replicas,
		AvailableReplicas:  replicas,
	}
	g.Expect(w.user.client.Status().Update(w.t.Context(), deployment)).To(Succeed())
}

func (w *world) machineSet(deployment *machines.MachineDeployment, revision int) *machines.MachineSet {
	w.t.Helper()
	set := &machines.MachineSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   deployment.Namespace,
			Name:        fmt.Sprintf("%s-%d", deployment.Name, revision),
			Labels:      deployment.Spec.Selector.MatchLabels,
			Annotations: map[string]string{machines.RevisionAnnotation: strconv.Itoa(revision + 1)},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, machines.GroupVersion().WithKind("MachineDeployment")),
			},
		},
		Spec: machines.MachineSetSpec{
			Replicas: deployment.Spec.Replicas,
			Selector: deployment.Spec.Selector,
			Template: deployment.Spec.Template,
		},
	}
	NewWithT(w.t).Expect(w.user.client.Create(w.t.Context(), set)).To(Succeed())
	return set
}

// machine makes a Machine and its Node, which an external kubelet registers tainted and without providerID.
func (w *world) machine(set *machines.MachineSet, name string, external bool) {
	w.t.Helper()
	g := NewWithT(w.t)
	machine := &machines.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: name, Labels: set.Labels}}
	machine.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, machines.GroupVersion().WithKind("MachineSet"))}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if external {
		machine.Annotations = map[string]string{ucv1.ExternalCloudProviderAnnotation: "true"}
		node.Spec.Taints = []corev1.Taint{{Key: uninitialized, Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	} else {
		node.Spec.ProviderID = "simcloud://" + name
	}
	machine.Status.NodeRef = &corev1.ObjectReference{Name: name}
	g.Expect(w.user.client.Create(w.t.Context(), machine)).To(Succeed())
	w.node(node)
	if external {
		w.registerDriver(name)
	}
}

// node makes a Node that is Ready.
func (w *world) node(node *corev1.Node) {
	w.t.Helper()
	g := NewWithT(w.t)
	g.Expect(w.user.client.Create(w.t.Context(), node)).To(Succeed())
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	g.Expect(w.user.client.Status().Update(w.t.Context(), node)).To(Succeed())
}

func (w *world) registerDriver(node string) {
	w.t.Helper()
	registered := &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "csi.simcloud.k8c.io", NodeID: node}}},
	}
	NewWithT(w.t).Expect(w.user.client.Create(w.t.Context(), registered)).To(Succeed())
}

// initializeNodes is what the CCM does to new Nodes.
func (w *world) initializeNodes() {
	w.t.Helper()
	g := NewWithT(w.t)
	nodes := &corev1.NodeList{}
	if w.knownProviderIDs {
		w.pass() // Its taint is all that a Node shows.
	}
	g.Expect(w.user.client.List(w.t.Context(), nodes)).To(Succeed())
	for _, node := range nodes.Items {
		if node.Spec.ProviderID != "" {
			continue
		}
		node.Spec.ProviderID, node.Spec.Taints = "simcloud://"+node.Name, nil
		g.Expect(w.user.client.Update(w.t.Context(), &node, client.FieldOwner(w.initializer()))).To(Succeed())
	}
}

// initializer sets the providerID of a Node: the CCM, or its kubelet, which --provider-id tells it.
func (w *world) initializer() string {
	if w.knownProviderIDs {
		return "kubelet"
	}
	return "simcloud-cloud-controller-manager"
}

// shrink an old MachineSet to what it is to have: none, unless an endless minReadySeconds keeps the new ones from being
// available.
func (w *world) shrink(deployment *machines.MachineDeployment, set *machines.MachineSet) {
	w.t.Helper()
	g := NewWithT(w.t)
	if seconds := deployment.Spec.MinReadySeconds; (seconds == nil || *seconds != rollout.EndlessMinReadySeconds) &&
		*set.Spec.Replicas > 0 {
		set.Spec.Replicas = new(int32(0))
		g.Expect(w.user.client.Update(w.t.Context(), set)).To(Succeed())
	}
	if *set.Spec.Replicas == 0 {
		w.removeMachines(set)
	}
}

// removeMachines takes out the Machines of a MachineSet with their Nodes.
func (w *world) removeMachines(set *machines.MachineSet) {
	w.t.Helper()
	g := NewWithT(w.t)
	list := &machines.MachineList{}
	g.Expect(w.user.client.List(w.t.Context(), list, client.MatchingLabels(set.Labels))).To(Succeed())
	for _, machine := range list.Items {
		if !metav1.IsControlledBy(&machine, set) {
			continue
		}
		g.Expect(w.user.client.Delete(w.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: machine.Name}})).To(Succeed())
		g.Expect(w.user.client.Delete(w.t.Context(), &machine)).To(Succeed())
	}
}

// machineNames of the user cluster.
func (w *world) machineNames() []string {
	w.t.Helper()
	list := &machines.MachineList{}
	NewWithT(w.t).Expect(w.user.client.List(w.t.Context(), list)).To(Succeed())
	var names []string
	for _, machine := range list.Items {
		names = append(names, machine.Name)
	}
	return names
}
