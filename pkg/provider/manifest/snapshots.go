package manifest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// SharedAnnotation marks what a cluster has once for all of its CSI drivers, whoever brought it. Where someone else did, it
	// is neither taken over nor compared, and it does not stand in the way; no one deletes it.
	SharedAnnotation = "ccm-migration.k8c.io/shared"
	// SharedValue is its value.
	SharedValue = "true"

	// SnapshotController is the name of its image, which it is found by under any other name.
	SnapshotController = "snapshot-controller"

	snapshotGroup = "snapshot.storage.k8s.io"
	// immutableMinor is the first that checks rules of a schema by default. Before, the API server drops them, and the definitions
	// would differ for ever:
	// https://github.com/kubernetes/apiextensions-apiserver/blob/v0.24.17/pkg/features/kube_features.go
	immutableMinor = 25
)

// Shared says that an object is one of those.
func Shared(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()[SharedAnnotation] == SharedValue
}

// snapshotControllerTag is not that of the csi-snapshotter beside a driver: there is one controller for all drivers, and it may
// be newer than each of them. Both speak snapshot.storage.k8s.io/v1, and it runs from Kubernetes 1.20 on:
// https://github.com/kubernetes-csi/external-snapshotter/blob/v8.6.0/README.md#compatibility
// The promotion of v8.4.0 was read from
// https://github.com/kubernetes/k8s.io/blob/0279c5e0/registry.k8s.io/images/k8s-staging-sig-storage/images.yaml, v8.6.0 is what
// the drivers of the newer minors were released with.
func snapshotControllerTag(minor int) string {
	if minor < 33 {
		return "v8.4.0"
	}
	return "v8.6.0"
}

// snapshots are what every driver with a csi-snapshotter needs, and a cluster has once.
func snapshots(in RenderInput) ([]Object, error) {
	minor, err := Minor(in.Version)
	if err != nil {
		return nil, err
	}
	objects := slices.Concat(
		[]Object{snapshotClass(), snapshotContent(minor), snapshot(minor), ServiceAccount(SnapshotController)},
		ClusterAccess(SnapshotController, SnapshotController, snapshotControllerRules()),
		NamespaceAccess(SnapshotController, SnapshotController, snapshotElection()),
		disruptionBudget(SnapshotController, SnapshotController, in),
		[]Object{deployment(SnapshotController, SnapshotController, snapshotControllerPod(snapshotControllerTag(minor)), nil)},
	)
	for _, object := range objects {
		annotations := map[string]string{SharedAnnotation: SharedValue}
		maps.Copy(annotations, object.GetAnnotations())
		object.SetAnnotations(annotations)
	}
	return objects, nil
}

// snapshotControllerRules without those for groups of snapshots, which are off by default. Facts from
// https://github.com/kubernetes-csi/external-snapshotter/blob/v8.6.0/deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml
func snapshotControllerRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		Rule("", "persistentvolumes", "get", "list", "watch"),
		// A claim that a snapshot is taken of gets a finalizer.
		Rule("", "persistentvolumeclaims", "get", "list", "watch", "update"),
		Rule("", "events", "list", "watch", "create", "update", "patch"),
		Rule(snapshotGroup, "volumesnapshotclasses", "get", "list", "watch"),
		Rule(snapshotGroup, "volumesnapshotcontents", "get", "list", "watch", "create", "update", "patch", "delete"),
		Rule(snapshotGroup, "volumesnapshotcontents/status", "patch"),
		Rule(snapshotGroup, "volumesnapshots", "get", "list", "watch", "update", "patch"),
		Rule(snapshotGroup, "volumesnapshots/status", "update", "patch"),
	}
}

// snapshotElection: the name is that of
// https://github.com/kubernetes-csi/external-snapshotter/blob/v8.6.0/cmd/snapshot-controller/main.go#L343
// Another snapshot-controller in this namespace, which cannot be seen because it runs elsewhere, is elected by the same Lease.
func snapshotElection() []rbacv1.PolicyRule {
	const group, leases = "coordination.k8s.io", "leases"
	held := Rule(group, leases, "get", "update")
	held.ResourceNames = []string{"snapshot-controller-leader"}
	return []rbacv1.PolicyRule{Rule(group, leases, "create"), held}
}

// snapshotControllerPod starts where the CSI controllers do: they are ready together.
func snapshotControllerPod(tag string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName: SnapshotController, PriorityClassName: ClusterCritical,
		DNSPolicy: corev1.DNSDefault, Tolerations: bootstrapTolerations()[:3], NodeSelector: linux(),
		Affinity: apart(SnapshotController), SecurityContext: RunAs(65532),
		Containers: []corev1.Container{
			{
				Name:            SnapshotController,
				Image:           ImageOf(sidecarImages+SnapshotController, tag),
				Args:            []string{"--leader-election=true", "--v=2"},
				Resources:       Requests("10m", "32Mi"),
				SecurityContext: Unprivileged(),
			},
		},
	}
}

// The definitions have what the programs and people rely on: names, scope, columns, the status, which fields there have to be and
// which exclude each other. Fields that a later release adds are kept. Facts from client/config/crd of
// https://github.com/kubernetes-csi/external-snapshotter/tree/v8.6.0

func snapshotClass() *apiextensionsv1.CustomResourceDefinition {
	made := definition("VolumeSnapshotClass", "volumesnapshotclasses", apiextensionsv1.ClusterScoped, "vsclass", "vsclasses")
	version := &made.Spec.Versions[0]
	version.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "Driver", Type: "string", JSONPath: ".driver"},
		{Name: "DeletionPolicy", Type: "string", JSONPath: ".deletionPolicy"},
		{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
	}
	version.Schema.OpenAPIV3Schema = new(fields(properties{
		"driver": text(), "deletionPolicy": deletionPolicy(),
		"parameters": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: new(text())}},
	}, "deletionPolicy", "driver"))
	return made
}

func snapshotContent(minor int) *apiextensionsv1.CustomResourceDefinition {
	made := definition("VolumeSnapshotContent", "volumesnapshotcontents", apiextensionsv1.ClusterScoped, "vsc", "vscs")
	version := &made.Spec.Versions[0]
	version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	version.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "ReadyToUse", Type: "boolean", JSONPath: ".status.readyToUse"},
		{Name: "RestoreSize", Type: "integer", JSONPath: ".status.restoreSize"},
		{Name: "DeletionPolicy", Type: "string", JSONPath: ".spec.deletionPolicy"},
		{Name: "Driver", Type: "string", JSONPath: ".spec.driver"},
		{Name: "VolumeSnapshotClass", Type: "string", JSONPath: ".spec.volumeSnapshotClassName"},
		{Name: "VolumeSnapshot", Type: "string", JSONPath: ".spec.volumeSnapshotRef.name"},
		{Name: "VolumeSnapshotNamespace", Type: "string", JSONPath: ".spec.volumeSnapshotRef.namespace"},
		{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
	}
	spec := open(fields(properties{
		"deletionPolicy": deletionPolicy(), "driver": text(), "source": source(minor, "snapshotHandle", "volumeHandle"),
		"sourceVolumeMode": text(), "volumeSnapshotClassName": text(),
		"volumeSnapshotRef": open(fields(properties{"name": text(), "namespace": text()}, "name", "namespace")),
	}, "deletionPolicy", "driver", "source", "volumeSnapshotRef"))
	// The time is in nanoseconds, the size in bytes.
	number := property{Type: "integer", Format: "int64"}
	status := open(fields(properties{
		"creationTime": number, "readyToUse": {Type: "boolean"}, "restoreSize": number, "snapshotHandle": text(), "error": failure(),
	}))
	version.Schema.OpenAPIV3Schema = new(fields(properties{"spec": spec, "status": status}, "spec"))
	return made
}

func snapshot(minor int) *apiextensionsv1.CustomResourceDefinition {
	made := definition("VolumeSnapshot", "volumesnapshots", apiextensionsv1.NamespaceScoped, "vs")
	version := &made.Spec.Versions[0]
	version.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	version.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "ReadyToUse", Type: "boolean", JSONPath: ".status.readyToUse"},
		{Name: "SourcePVC", Type: "string", JSONPath: ".spec.source.persistentVolumeClaimName"},
		{Name: "SourceSnapshotContent", Type: "string", JSONPath: ".spec.source.volumeSnapshotContentName"},
		{Name: "RestoreSize", Type: "string", JSONPath: ".status.restoreSize"},
		{Name: "SnapshotClass", Type: "string", JSONPath: ".spec.volumeSnapshotClassName"},
		{Name: "SnapshotContent", Type: "string", JSONPath: ".status.boundVolumeSnapshotContentName"},
		{Name: "CreationTime", Type: "date", JSONPath: ".status.creationTime"},
		{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
	}
	class := text()
	class.MinLength = new(int64(1))
	spec := open(fields(properties{
		"source": source(minor, "persistentVolumeClaimName", "volumeSnapshotContentName"), "volumeSnapshotClassName": class,
	}, "source"))
	status := open(fields(properties{
		"boundVolumeSnapshotContentName": text(), "creationTime": moment(), "readyToUse": {Type: "boolean"}, "restoreSize": text(),
		"error": failure(),
	}))
	version.Schema.OpenAPIV3Schema = new(fields(properties{"spec": spec, "status": status}, "spec"))
	return made
}

// definition of a kind in the one version that there is; its schema is still to be made. Groups of *.k8s.io need the annotation:
// https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/2337-k8s.io-group-protection
func definition(
	kind, plural string,
	scope apiextensionsv1.ResourceScope,
	short ...string,
) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + snapshotGroup, Annotations: map[string]string{
			apiextensionsv1.KubeAPIApprovedAnnotation: "https://github.com/kubernetes-csi/external-snapshotter/pull/814",
		}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: snapshotGroup, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, ShortNames: short},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{},
			}},
		},
	}
}
