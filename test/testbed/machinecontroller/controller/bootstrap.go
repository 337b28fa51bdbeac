package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// external says how the kubelet of a new instance joins: as the bootstrap Secret
// of its MachineDeployment says. A Machine that no MachineDeployment owns waits
// for good; before v1.60 it joined as its own annotation says.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/util/machine.go#L58
func (r *machineReconciler) external(ctx context.Context, machine *machines.Machine) (bool, error) {
	set := &machines.MachineSet{}
	if found, err := r.owner(ctx, machine, "MachineSet", set); err != nil || !found {
		return r.externalAlone(machine, err)
	}
	deployment := &machines.MachineDeployment{}
	if found, err := r.owner(ctx, set, "MachineDeployment", deployment); err != nil || !found {
		return r.externalAlone(machine, err)
	}
	bootstrap := machines.Bootstrap{}
	for kind, into := range map[string]**corev1.Secret{machines.ConfigSecret: &bootstrap.Config,
		machines.FetchSecret: &bootstrap.Fetch} {
		secret := &corev1.Secret{}
		key := client.ObjectKey{
			Namespace: machines.BootstrapNamespace, Name: machines.BootstrapSecretName(deployment.Namespace, deployment.Name, kind),
		}
		switch err := r.client.Get(ctx, key, secret); {
		case err == nil:
			*into = secret
		case !apierrors.IsNotFound(err):
			return false, fmt.Errorf("read bootstrap Secret %s: %w", key, err)
		}
	}
	return machines.KubeletIsExternal(deployment, set, bootstrap)
}

func (r *machineReconciler) externalAlone(machine *machines.Machine, err error) (bool, error) {
	switch {
	case err != nil:
		return false, err
	case !r.options.bootsStandalone:
		return false, &machines.NotReadyError{Reason: "Machine " + machine.Name + " has no MachineDeployment"}
	}
	return machine.Annotations[machines.ExternalCloudProviderAnnotation] == "true", nil
}

// owner reads the controlling owner into out; false if object has none of that
// kind.
func (r *machineReconciler) owner(ctx context.Context, object client.Object, kind string, out client.Object) (bool, error) {
	reference := metav1.GetControllerOf(object)
	if reference == nil || reference.Kind != kind {
		return false, nil
	}
	key := client.ObjectKey{Namespace: object.GetNamespace(), Name: reference.Name}
	err := r.client.Get(ctx, key, out)
	if apierrors.IsNotFound(err) || err == nil && out.GetUID() != reference.UID {
		return false, &machines.NotReadyError{Reason: fmt.Sprintf("%s %s of %s is gone", kind, reference.Name, object.GetName())}
	}
	if err != nil {
		return false, fmt.Errorf("read %s %s of %s: %w", kind, reference.Name, object.GetName(), err)
	}
	return true, nil
}
