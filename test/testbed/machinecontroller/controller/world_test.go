package controller

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/leader"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/osm"
)

const namespace = "kube-system"

// instances is a cloud in memory.
type instances map[string]cloud.Instance

func (i instances) Instance(_ context.Context, name string) (*cloud.Instance, error) {
	instance, found := i[name]
	if !found {
		return nil, cloud.ErrNotFound
	}
	return &instance, nil
}

func (i instances) Create(_ context.Context, instance cloud.Instance) (*cloud.Instance, error) {
	instance.ProviderID = "simcloud://alpha/" + instance.Name
	address := fnv.New32a()
	_, _ = address.Write([]byte(instance.Name))
	instance.Addresses = []string{net.IP(append([]byte{10}, address.Sum(nil)[1:]...)).String()}
	i[instance.Name] = instance
	return &instance, nil
}

func (i instances) Delete(_ context.Context, name string) error {
	delete(i, name)
	return nil
}

// world is a user cluster in memory, moved by hand: every actor is reconciled in
// turn and nothing happens by itself.
type world struct {
	*GomegaWithT
	t      *testing.T
	client client.Client
	clock  *clocktesting.FakePassiveClock
	cloud  instances
	// external are the flags: machine-controller-webhook's and
	// operating-system-manager's.
	stampExternal, bootExternal bool
	options                     machineOptions
	// broken Nodes never turn ready.
	broken bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		GomegaWithT: NewWithT(t), t: t, cloud: instances{},
		clock:   clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
		options: machineOptions{bootDelay: 2 * time.Second, skipEvictionAfter: 2 * time.Hour},
	}
	scheme, err := leader.Scheme()
	w.Expect(err).NotTo(HaveOccurred())
	serial := 0
	create := func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		serial++
		object.SetUID(types.UID(fmt.Sprintf("uid-%d", serial)))
		object.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
		if machine, ok := object.(*machines.Machine); ok {
			machine.Annotations = with(machine.Annotations, machines.ExternalCloudProviderAnnotation, fmt.Sprint(w.stampExternal))
		}
		return c.Create(ctx, object, options...)
	}
	w.client = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&machines.MachineDeployment{}, &machines.MachineSet{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(object client.Object) []string {
			pod, ok := object.(*corev1.Pod)
			if !ok {
				return nil
			}
			return []string{pod.Spec.NodeName}
		}).
		WithInterceptorFuncs(interceptor.Funcs{Create: create}).Build()
	return w
}

func (w *world) reconcile(r reconcile.Reconciler, object client.Object) {
	w.t.Helper()
	_, err := r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	w.Expect(err).NotTo(HaveOccurred())
}

// look is a reconcile that tells when the next one is.
func (w *world) look(r reconcile.Reconciler, object client.Object) time.Duration {
	w.t.Helper()
	result, err := r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	w.Expect(err).NotTo(HaveOccurred())
	return result.RequeueAfter
}

// step lets a second pass and every actor act once.
func (w *world) step() {
	w.t.Helper()
	w.clock.SetTime(w.clock.Now().Add(time.Second))
	for _, deployment := range w.deployments() {
		w.reconcile(&deploymentReconciler{client: w.client}, &deployment)
		w.reconcile(osm.NewReconciler(w.client, w.bootExternal), &deployment)
	}
	for _, set := range w.sets() {
		w.reconcile(&setReconciler{client: w.client, clock: w.clock}, &set)
	}
	for _, machine := range w.machines() {
		w.reconcile(&machineReconciler{client: w.client, cloud: w.cloud, clock: w.clock, options: w.options}, &machine)
	}
	w.kubelets()
	w.collect()
}

// collect is the garbage collector: what has the finalizer goes after what it has.
func (w *world) collect() {
	w.t.Helper()
	for _, deployment := range w.deployments() {
		w.collectOf(&deployment, owned(&deployment, w.sets(), func(s *machines.MachineSet) client.Object { return s }))
	}
	for _, set := range w.sets() {
		w.collectOf(&set, owned(&set, w.machines(), func(m *machines.Machine) client.Object { return m }))
	}
}

func owned[T any](owner client.Object, all []T, object func(*T) client.Object) []client.Object {
	var out []client.Object
	for i := range all {
		if one := object(&all[i]); metav1.IsControlledBy(one, owner) {
			out = append(out, one)
		}
	}
	return out
}

func (w *world) collectOf(owner client.Object, dependents []client.Object) {
	w.t.Helper()
	if owner.GetDeletionTimestamp() == nil {
		return
	}
	for _, dependent := range dependents {
		w.Expect(client.IgnoreNotFound(w.client.Delete(w.t.Context(), dependent))).To(Succeed())
	}
	if len(dependents) == 0 && controllerutil.RemoveFinalizer(owner, metav1.FinalizerDeleteDependents) {
		w.Expect(w.client.Update(w.t.Context(), owner)).To(Succeed())
	}
}

func (w *world) steps(count int) {
	w.t.Helper()
	for range count {
		w.step()
	}
}

// kubelets make Nodes ready whatever their taints.
func (w *world) kubelets() {
	w.t.Helper()
	for _, node := range w.nodes() {
		if w.broken || nodeIsReady(&node) {
			continue
		}
		node.Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.clock.Now()),
		}}
		w.Expect(w.client.Status().Update(w.t.Context(), &node)).To(Succeed())
	}
}

func (w *world) deployments() []machines.MachineDeployment {
	list := &machines.MachineDeploymentList{}
	w.Expect(w.client.List(w.t.Context(), list)).To(Succeed())
	return list.Items
}

func (w *world) sets() []machines.MachineSet {
	list := &machines.MachineSetList{}
	w.Expect(w.client.List(w.t.Context(), list)).To(Succeed())
	return list.Items
}

func (w *world) machines() []machines.Machine {
	list := &machines.MachineList{}
	w.Expect(w.client.List(w.t.Context(), list)).To(Succeed())
	return list.Items
}

func (w *world) nodes() []corev1.Node {
	list := &corev1.NodeList{}
	w.Expect(w.client.List(w.t.Context(), list)).To(Succeed())
	return list.Items
}

// nodesOf are those with the taint, or without.
func (w *world) nodesOf(taint bool) []corev1.Node {
	return slices.DeleteFunc(w.nodes(), func(node corev1.Node) bool { return tainted(&node) != taint })
}

func (w *world) deployment() *machines.MachineDeployment {
	w.t.Helper()
	out := &machines.MachineDeployment{}
	w.Expect(w.client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "pool"}, out)).To(Succeed())
	return out
}

// pool makes a MachineDeployment of three and waits until it is complete.
func (w *world) pool() {
	w.t.Helper()
	w.create(3)
	w.steps(8)
	w.Expect(w.deployment().Status).To(Equal(machines.MachineDeploymentStatus{
		Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
	}))
}

func (w *world) create(replicas int32) {
	w.t.Helper()
	labels := map[string]string{"pool": "pool"}
	w.Expect(w.client.Create(w.t.Context(), &machines.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool"},
		Spec: machines.MachineDeploymentSpec{
			Replicas: &replicas, Selector: metav1.LabelSelector{MatchLabels: labels},
			Template: machines.MachineTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
		},
	})).To(Succeed())
}

func (w *world) change(mutate func(*machines.MachineDeployment)) {
	w.t.Helper()
	deployment := w.deployment()
	mutate(deployment)
	w.Expect(w.client.Update(w.t.Context(), deployment)).To(Succeed())
}

func (w *world) forceRestart(value string) {
	w.t.Helper()
	w.change(func(deployment *machines.MachineDeployment) {
		deployment.Spec.Template.Annotations = with(deployment.Spec.Template.Annotations, "forceRestart", value)
	})
}

func tainted(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == machines.UninitializedTaint {
			return taint.Value == "true" && taint.Effect == corev1.TaintEffectNoSchedule
		}
	}
	return false
}
