package machinecontroller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// machineObject reads an object of the machine-controller.
func machineObject(t *testing.T, kind, name, content string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(content), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetGroupVersionKind(machineGroupVersion().WithKind(kind))
	object.SetNamespace("kube-system")
	object.SetName(name)
	object.SetUID(types.UID(name + "-uid"))
	return object
}

func ownedBy(object *unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "cluster.k8s.io/v1alpha1", Kind: kind, Name: name,
		UID: types.UID(name + "-uid"), Controller: new(true)}})
	return object
}

func TestMachines(t *testing.T) {
	g := NewWithT(t)
	deployment := machineObject(t, "MachineDeployment", "md", `
metadata: {generation: 2}
spec: {replicas: 2, template: {metadata: {labels: {a: b}, annotations: {forceRestart: "1"}}, spec: {versions: {kubelet: v}}}}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2}`)
	machine := ownedBy(machineObject(t, "Machine", "m", `
metadata: {annotations: {v1.kubelet-flags.machine-controller.kubermatic.io/ExternalCloudProvider: "true"}, finalizers: [a]}
status: {nodeRef: {name: node-1}, errorReason: CreateError, errorMessage: quota}`), "MachineSet", "current")
	machine.SetDeletionTimestamp(new(metav1.NewTime(start)))
	s := adapterWith(interceptor.Funcs{}, deployment, machine,
		machineObject(t, "MachineDeployment", "paused", "spec: {paused: true}"),
		ownedBy(machineObject(t, "MachineSet", "current", `
spec: {replicas: 2, template: {metadata: {creationTimestamp: null, labels: {a: b, machine-template-hash: "7"},
  annotations: {forceRestart: "1"}},
  spec: {metadata: {}, providerSpec: {}, versions: {kubelet: v}}}}`), "MachineDeployment", "md"),
		ownedBy(machineObject(t, "MachineSet", "old", `
spec: {replicas: 0, template: {metadata: {labels: {a: b, machine-template-hash: "6"}},
  spec: {versions: {kubelet: v}}}}`), "MachineDeployment", "md"),
		machineObject(t, "Machine", "alone", "spec: {metadata: {}}"),
	)
	machines, known := s.Observe(t.Context()).Get()
	g.Expect(known).To(BeTrue())
	ref := func(kind, name string) observation.Ref {
		return observation.Ref{Kind: kind, Namespace: "kube-system", Name: name, UID: name + "-uid"}
	}
	g.Expect(cmp.Diff(observation.Machines{
		Deployments: []observation.MachineDeployment{
			{
				Ref:          ref("MachineDeployment", "md"),
				RestartValue: "1",
				Replicas:     2,
				Version:      "999",
				Generation:   2,
				MaxSurge:     1,
				Settled:      true,
			},
			{Ref: ref("MachineDeployment", "paused"), Paused: true, Replicas: 1, Version: "999", MaxSurge: 1},
		},
		Sets: []observation.MachineSet{
			{Ref: ref("MachineSet", "current"), Deployment: "md-uid", RestartValue: "1", Replicas: 2, Version: "999", Current: true},
			{Ref: ref("MachineSet", "old"), Deployment: "md-uid", Version: "999"},
		},
		Machines: []observation.Machine{
			{Ref: ref("Machine", "alone")},
			{Ref: ref("Machine", "m"), Set: "current-uid", Annotation: "true", NodeName: "node-1", Deleting: true,
				DeletingSince: start, Finalizers: []string{"a"}, Problem: "CreateError: quota"},
		},
	}, machines, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }))).To(BeEmpty())
}

func TestFinalizersOfOthersAreTold(t *testing.T) {
	g := NewWithT(t)
	machine := machineObject(t, "Machine", "m", `metadata: {finalizers: [machine-delete-finalizer, machine-node-delete-finalizer,
  kubermatic.io/red-hat-subscription, kubermatic.io/cleanup-azure-vm, kubermatic.io/release-openstack-floating-ip, example.com/keep]}`)
	g.Expect(toMachine(machine).Finalizers).To(Equal([]string{"example.com/keep"}), "those of its drivers are the machine-controller's")

	deployment := machineObject(t, "MachineDeployment", "md", `metadata: {finalizers: [foregroundDeletion,
  kubermatic.io/cleanup-operating-system-configs, example.com/keep]}`)
	g.Expect(toMachineDeployment(deployment).Finalizers).To(BeEmpty(), "nothing is held before it is deleted")
	deployment.SetDeletionTimestamp(new(metav1.NewTime(start)))
	g.Expect(toMachineDeployment(deployment)).To(And(HaveField("DeletingSince", BeTemporally("==", start)), HaveField("Finalizers",
		Equal([]string{"kubermatic.io/cleanup-operating-system-configs of the operating-system-manager", "example.com/keep"}))))
}

func TestMachineDeploymentIsSettled(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    bool
	}{
		"all replicas are": {"{metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, replicas: 1, " +
			"updatedReplicas: 1, availableReplicas: 1}}", true},
		"the default is one": {"{spec: {}, status: {replicas: 1, updatedReplicas: 1, availableReplicas: 1}}", true},
		"none are wanted":    {"{metadata: {generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}", true},
		"numbers may be floats": {"{spec: {replicas: 2.0}, status: {replicas: 2.0, updatedReplicas: 2.0, " +
			"availableReplicas: 2.0}}", true},
		"the status is old":              {"{metadata: {generation: 2}, spec: {replicas: 0}, status: {observedGeneration: 1}}", false},
		"one is not updated":             {"{spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 1, availableReplicas: 2}}", false},
		"none counts as available":       {"{spec: {replicas: 2}, status: {replicas: 2, updatedReplicas: 2, availableReplicas: 0}}", true},
		"one of the old is still there":  {"{spec: {replicas: 2}, status: {replicas: 3, updatedReplicas: 2, availableReplicas: 2}}", false},
		"it was not looked at by anyone": {"{spec: {replicas: 1}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			object := machineObject(t, "MachineDeployment", "md", tc.content)
			NewWithT(t).Expect(toMachineDeployment(object).Settled).To(Equal(tc.want))
		})
	}
}

func TestMachinesWithoutCRDs(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Group: "cluster.k8s.io"}, "")
	without := func(kinds ...string) interceptor.Funcs {
		return interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				for _, kind := range kinds {
					if list.GetObjectKind().GroupVersionKind().Kind == kind+"List" {
						return notFound
					}
				}
				return c.List(ctx, list, opts...)
			},
		}
	}
	t.Run("all three missing is absent", func(t *testing.T) {
		s := adapterWith(without("Machine", "MachineSet", "MachineDeployment"))
		NewWithT(t).Expect(s.Observe(t.Context()).IsAbsent()).To(BeTrue())
	})
	t.Run("one missing is not understood", func(t *testing.T) {
		g := NewWithT(t)
		s := adapterWith(
			without("MachineSet"),
			machineObject(t, "Machine", "a", "{}"),
			machineObject(t, "MachineDeployment", "a", "{}"),
		)
		machines := s.Observe(t.Context())
		g.Expect(machines.IsUnknown()).To(BeTrue())
		g.Expect(machines.Why()).To(ContainSubstring("only some"))
	})
}

func TestRollMachineDeployment(t *testing.T) {
	g := NewWithT(t)
	s := adapterWith(interceptor.Funcs{}, machineObject(t, "MachineDeployment", "md", "spec: {replicas: 2, template: {metadata: "+
		"{annotations: {a: b}}}}"))
	ref := observation.Ref{Kind: "MachineDeployment", Namespace: "kube-system", Name: "md", UID: "md-uid"}
	g.Expect(s.roll(t.Context(), ref, s.asSeen(t, rolls("17", false)))).To(Succeed())

	live, err := reads.Live(t.Context(), s.client, machineObject(t, "MachineDeployment", "md", "{}"))
	g.Expect(err).NotTo(HaveOccurred())
	annotations, _, _ := unstructured.NestedStringMap(live.Object, "spec", "template", "metadata", "annotations")
	g.Expect(annotations).To(Equal(map[string]string{"a": "b", "forceRestart": "17"}))
	g.Expect(live.GetManagedFields()).To(ContainElement(HaveField("Manager", "ccm-migration-controller")))

	ref.UID = ""
	g.Expect(s.roll(t.Context(), ref, rolls("17", false))).To(MatchError(ContainSubstring("UID")))
}

func TestRollOfADeletedMachineDeployment(t *testing.T) {
	g := NewWithT(t)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "machinedeployments"}, "md", errors.New("uid mismatch"))
	s := adapterWith(interceptor.Funcs{})
	s.client = interceptor.NewClient(s.client.(client.WithWatch), interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return conflict
		}})
	err := s.roll(t.Context(), breakerRef(), rolls("17", true))
	g.Expect(err).To(MatchError(ContainSubstring("deleted meanwhile")))
	g.Expect(apierrors.IsConflict(err)).To(BeTrue())
}
