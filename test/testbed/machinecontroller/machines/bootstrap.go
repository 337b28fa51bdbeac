package machines

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RenderBootstrap makes the Secret that new machines of the MachineDeployment's
// current revision boot with.
func RenderBootstrap(deployment *MachineDeployment, external bool) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: BootstrapNamespace,
			Name:      BootstrapSecretName(deployment.Namespace, deployment.Name),
			Annotations: map[string]string{
				BootstrapRevisionAnnotation: deployment.Annotations[RevisionAnnotation],
				BootstrapOwnerAnnotation:    string(deployment.UID),
			},
		},
		Data: map[string][]byte{BootstrapKey: []byte("external: " + strconv.FormatBool(external) + "\n")},
	}
}

// BootstrapIsCurrent says whether the Secret was made for the MachineDeployment's
// current revision. Nothing else counts: a changed flag of the
// operating-system-manager shows only in the next revision.
func BootstrapIsCurrent(deployment *MachineDeployment, secret *corev1.Secret) bool {
	return secret != nil && Revision(deployment) > 0 &&
		secret.Annotations[BootstrapRevisionAnnotation] == deployment.Annotations[RevisionAnnotation] &&
		secret.Annotations[BootstrapOwnerAnnotation] == string(deployment.UID)
}

// NotReadyError says why a Machine cannot boot yet.
type NotReadyError struct{ Reason string }

// Error implements error.
func (e *NotReadyError) Error() string { return "cloud config not ready: " + e.Reason }

// KubeletIsExternal reads from the bootstrap Secret how kubelets of set join.
// There is one Secret, for the MachineDeployment's newest revision, and a set of
// another one cannot boot with it: a Machine that an old set makes in the middle
// of a roll waits for good.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go (ensureInstanceExistsForMachine)
func KubeletIsExternal(deployment *MachineDeployment, set *MachineSet, secret *corev1.Secret) (bool, error) {
	if Revision(deployment) != Revision(set) {
		return false, &NotReadyError{fmt.Sprintf("MachineDeployment %s is at revision %d, MachineSet %s at %d",
			deployment.Name, Revision(deployment), set.Name, Revision(set))}
	}
	if !BootstrapIsCurrent(deployment, secret) {
		return false, &NotReadyError{fmt.Sprintf("no bootstrap Secret %s for revision %d of MachineDeployment %s",
			BootstrapSecretName(deployment.Namespace, deployment.Name), Revision(deployment), deployment.Name)}
	}
	value := strings.TrimSpace(strings.TrimPrefix(string(secret.Data[BootstrapKey]), "external:"))
	external, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("read key %s of bootstrap Secret %s: it says neither true nor false", BootstrapKey, secret.Name)
	}
	return external, nil
}
