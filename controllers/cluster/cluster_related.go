package cluster

import (
	corev1 "k8s.io/api/core/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/controlplane"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines/machinecontroller"
)

// relatedTo is what a transition is about besides the Cluster: what was accepted, what the pass changed, what the message
// names first, or what the step is about. It may be in the user cluster. Nil when there is no such object.
func relatedTo(s *scope, entry ucv1.TimelineEntry) *corev1.ObjectReference {
	for _, object := range entry.Objects {
		if found := namedIn(object); found != nil {
			return found
		}
	}
	if verb := s.decision.Verb; verb != nil && entry.Kind == ucv1.TimelineStep && len(verb.Objects) > 0 && verb.Objects[0].Kind != "Cluster" {
		return referenceTo(verb.Objects[0])
	}
	if found := namedIn(entry.Message); found != nil {
		return found
	}
	return objectOf(s.cluster, entry.Step)
}

// namedIn is the first object that a message names and whose kind is known.
func namedIn(message string) *corev1.ObjectReference {
	for _, ref := range migration.RefsIn(message) {
		if versionOfKind()[ref.Kind] != "" {
			return referenceTo(ref)
		}
	}
	return nil
}

func referenceTo(ref observation.Ref) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: ref.Kind, APIVersion: versionOfKind()[ref.Kind], Namespace: ref.Namespace, Name: ref.Name}
}

// objectOf a step is the Deployment that the step is about, or what the controller keeps for it beside the Cluster.
func objectOf(cluster *ucv1.Cluster, step ucv1.Step) *corev1.ObjectReference {
	switch step {
	case ucv1.StepAddons, ucv1.StepUndoAddons:
		return referenceTo(observation.Ref{Kind: "ConfigMap", Namespace: cluster.Namespace, Name: inventoryName(cluster)})
	case ucv1.StepVerify:
		if cluster.Status.Baseline != nil {
			return referenceTo(observation.Ref{Kind: "Secret", Namespace: cluster.Namespace, Name: cluster.Status.Baseline.SecretName})
		}
	case ucv1.StepMachineController, ucv1.StepUndoMachineController, ucv1.StepRoll, ucv1.StepUndoRoll:
		return referenceTo(controlplane.MachineControllerRef(cluster))
	default:
	}
	if cluster.Spec.ControlPlane.Static() {
		return nil
	}
	return referenceTo(observation.Ref{Kind: "Deployment", Namespace: cluster.Namespace, Name: cluster.KubeControllerManager().Name})
}

func versionOfKind() map[string]string {
	versions := map[string]string{
		"ConfigMap": "v1", "Node": "v1", "PersistentVolume": "v1", "PersistentVolumeClaim": "v1", "Pod": "v1", "Secret": "v1",
		"Service": "v1", "ServiceAccount": "v1",
		"DaemonSet": "apps/v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1",
		"Lease": "coordination.k8s.io/v1", "PodDisruptionBudget": "policy/v1",
		"Role": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
		"CSIDriver": "storage.k8s.io/v1", "StorageClass": "storage.k8s.io/v1",
	}
	for _, kind := range machinecontroller.Kinds() {
		versions[kind.Kind] = kind.GroupVersion().String()
	}
	return versions
}
