package machines

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func copyPointer[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// DeepCopy copies a MachineSpec.
func (in *MachineSpec) DeepCopy() *MachineSpec {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Taints = nil
	for i := range in.Taints {
		out.Taints = append(out.Taints, *in.Taints[i].DeepCopy())
	}
	out.ProviderSpec.Value = in.ProviderSpec.Value.DeepCopy()
	out.ConfigSource = in.ConfigSource.DeepCopy()
	out.ProviderID = copyPointer(in.ProviderID)
	return &out
}

// DeepCopy copies a MachineTemplateSpec.
func (in *MachineTemplateSpec) DeepCopy() *MachineTemplateSpec {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Spec = *in.Spec.DeepCopy()
	return &out
}

// DeepCopy copies a MachineStatus.
func (in *MachineStatus) DeepCopy() *MachineStatus {
	out := *in
	out.NodeRef = copyPointer(in.NodeRef)
	out.LastUpdated = in.LastUpdated.DeepCopy()
	out.ErrorReason = copyPointer(in.ErrorReason)
	out.ErrorMessage = copyPointer(in.ErrorMessage)
	out.Addresses = slices.Clone(in.Addresses)
	out.Conditions = nil
	for i := range in.Conditions {
		out.Conditions = append(out.Conditions, *in.Conditions[i].DeepCopy())
	}
	out.InstanceCreatedAt = in.InstanceCreatedAt.DeepCopy()
	return &out
}

// DeepCopy copies a Machine.
func (in *Machine) DeepCopy() *Machine {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Spec = *in.Spec.DeepCopy()
	out.Status = *in.Status.DeepCopy()
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *Machine) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *MachineList) DeepCopyObject() runtime.Object {
	out := *in
	out.ListMeta = *in.DeepCopy()
	out.Items = nil
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return &out
}

// DeepCopy copies a MachineSet.
func (in *MachineSet) DeepCopy() *MachineSet {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Spec.Replicas = copyPointer(in.Spec.Replicas)
	in.Spec.Selector.DeepCopyInto(&out.Spec.Selector)
	out.Spec.Template = *in.Spec.Template.DeepCopy()
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *MachineSet) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *MachineSetList) DeepCopyObject() runtime.Object {
	out := *in
	out.ListMeta = *in.DeepCopy()
	out.Items = nil
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return &out
}

// DeepCopy copies a MachineDeployment.
func (in *MachineDeployment) DeepCopy() *MachineDeployment {
	out := *in
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Spec.Replicas = copyPointer(in.Spec.Replicas)
	in.Spec.Selector.DeepCopyInto(&out.Spec.Selector)
	out.Spec.Template = *in.Spec.Template.DeepCopy()
	out.Spec.MinReadySeconds = copyPointer(in.Spec.MinReadySeconds)
	out.Spec.RevisionHistoryLimit = copyPointer(in.Spec.RevisionHistoryLimit)
	out.Spec.ProgressDeadlineSeconds = copyPointer(in.Spec.ProgressDeadlineSeconds)
	if in.Spec.Strategy != nil {
		out.Spec.Strategy = copyPointer(in.Spec.Strategy)
		if rolling := in.Spec.Strategy.RollingUpdate; rolling != nil {
			out.Spec.Strategy.RollingUpdate = &RollingUpdate{
				MaxUnavailable: copyPointer(rolling.MaxUnavailable),
				MaxSurge:       copyPointer(rolling.MaxSurge),
			}
		}
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *MachineDeployment) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (in *MachineDeploymentList) DeepCopyObject() runtime.Object {
	out := *in
	out.ListMeta = *in.DeepCopy()
	out.Items = nil
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopy())
	}
	return &out
}

// Ready returns the Ready condition that the Machine copied from its Node.
func (in *Machine) Ready() *corev1.NodeCondition {
	for i := range in.Status.Conditions {
		if in.Status.Conditions[i].Type == corev1.NodeReady {
			return &in.Status.Conditions[i]
		}
	}
	return nil
}
