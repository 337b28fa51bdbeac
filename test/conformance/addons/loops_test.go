package addons_test

import (
	"regexp"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// asked is what a program asks of the API server, and the source that says so.
type asked struct {
	who, link string
	grants    []grant
}

func grantsOf(all []asked) []grant {
	var found []grant
	for _, one := range all {
		found = append(found, one.grants...)
	}
	return found
}

// loops are what the loops of k8s.io/cloud-provider ask for, in all of its minors from 0.24 to 0.36. Node IPAM is not among
// them: the library does not have it, and every CCM of the catalogue is told not to run it.
func loops() []asked {
	const library = "https://github.com/kubernetes/cloud-provider/blob/v0.30.14/"
	events := grants("", "events", "create", "patch")
	nodes := grants("", "nodes", "list", "watch")
	status := grants("", "nodes/status", "patch")
	return []asked{
		{"cloud-node: its informer", library + "controllers/node/node_controller.go#L133", nodes},
		{"cloud-node: initializing a Node", library + "controllers/node/node_controller.go#L481", grants("", "nodes", "update")},
		{"cloud-node: addresses", library + "controllers/node/node_controller.go#L398", status},
		{"cloud-node: labels", library + "node/helpers/labels.go#L68", grants("", "nodes", "get", "patch")},
		{"cloud-node: events", library + "controllers/node/node_controller.go#L499", events},
		{"cloud-node-lifecycle: deleting a Node", library + "controllers/nodelifecycle/node_lifecycle_controller.go#L176", grants("", "nodes", "delete")},
		{"cloud-node-lifecycle: the shutdown taint", library + "node/helpers/taints.go#L62", grants("", "nodes", "get", "patch")},
		{"service: its informers", library + "controllers/service/controller.go#L130", append(grants("", "services", "list", "watch"), nodes...)},
		// Finalizer and status both: the first one, too, is written by way of the second one's resource.
		{"service: finalizer and status", library + "service/helpers/helper.go#L141", grants("", "services/status", "patch")},
		{"service: events", library + "controllers/service/controller.go", events},
		{"route: the condition NetworkUnavailable", library + "controllers/route/route_controller.go#L397", append(status, nodes...)},
	}
}

// process is what a CCM asks for whatever its loops are.
func process() []asked {
	const apiserver = "https://github.com/kubernetes/apiserver/blob/v0.30.14/"
	return []asked{
		{
			"who asks for its metrics", apiserver + "pkg/server/options/authentication.go#L361",
			append(
				grants("authentication.k8s.io", "tokenreviews", "create"),
				grants("authorization.k8s.io", "subjectaccessreviews", "create")...,
			),
		},
		{
			"the certificates of its clients", apiserver + "pkg/server/dynamiccertificates/configmap_cafile_content.go#L83",
			of(metav1.NamespaceSystem, "extension-apiserver-authentication", grants("", "configmaps", "get", "list", "watch")),
		},
	}
}

// election is what being elected by a Lease takes: to hold it, and to make it if it is not there.
// https://github.com/kubernetes/client-go/blob/v0.30.14/tools/leaderelection/resourcelock/leaselock.go
func election(namespace, name string) []grant {
	return append(of(namespace, name, grants("coordination.k8s.io", "leases", "get", "update")), making(namespace)...)
}

// making a Lease cannot be allowed by name.
func making(namespace string) []grant {
	return of(namespace, "", grants("coordination.k8s.io", "leases", "create"))
}

// holding a Lease; to patch it is no more than to update it.
func holding(id manifest.Identity) []grant {
	return of(id.LeaseNamespace, id.LeaseName, grants("coordination.k8s.io", "leases", "get", "update", "patch"))
}

// fenced is what a CCM may do while its fence is open, and none of it while it is closed: all that the fence grants.
func fenced(t *testing.T, id manifest.Identity) []grant {
	t.Helper()
	role := &rbacv1.Role{}
	decode(NewWithT(t), render.FenceObjects(id)[0], role)
	var all []grant
	for _, rule := range role.Rules {
		all = append(all, expand(rule, role.Namespace)...)
	}
	return all
}

// fenceable is what a fence may be about.
func fenceable(r rendering) []grant {
	all := append(holding(r.identity), making(r.identity.LeaseNamespace)...)
	for _, further := range furtherLeases(r.provider) {
		id := r.identity
		id.LeaseName = further
		all = append(all, holding(id)...)
	}
	return all
}

// sidecars are what the containers beside a CSI driver ask for, by the names of their images: those rules of their projects that
// their features need which are on by default in all minors.
func sidecars(driver string) map[string]asked {
	const storage, snapshot = "storage.k8s.io", "snapshot.storage.k8s.io"
	read := []string{"get", "list", "watch"}
	events := grants("", "events", "create", "patch")
	lease := func(name string) []grant { return election(metav1.NamespaceSystem, leaseName(name)) }
	return map[string]asked{
		"csi-attacher": {"csi-attacher", "https://github.com/kubernetes-csi/external-attacher/blob/v4.4.2/deploy/kubernetes/rbac.yaml",
			slices.Concat(
				grants("", "persistentvolumes", append(read, "patch")...), grants(storage, "csinodes", read...),
				grants(storage, "volumeattachments", append(read, "patch")...), grants(storage, "volumeattachments/status", "patch"),
				lease("external-attacher-leader-"+driver))},
		"csi-provisioner": {"csi-provisioner",
			"https://github.com/kubernetes-csi/external-provisioner/blob/v3.6.2/deploy/kubernetes/rbac.yaml", slices.Concat(
				grants("", "persistentvolumes", append(read, "create", "delete", "patch")...),
				grants("", "persistentvolumeclaims", append(read, "update")...),
				grants("", "nodes", read...), grants(storage, "storageclasses", read...), grants(storage, "csinodes", read...),
				grants(storage, "volumeattachments", read...), grants(snapshot, "volumesnapshots", "get", "list"),
				grants(snapshot, "volumesnapshotcontents", "get", "list"), events, lease(driver))},
		"csi-resizer": {"csi-resizer", "https://github.com/kubernetes-csi/external-resizer/blob/v1.9.2/deploy/kubernetes/rbac.yaml",
			slices.Concat(
				grants("", "persistentvolumes", append(read, "patch")...), grants("", "persistentvolumeclaims", read...),
				grants("", "persistentvolumeclaims/status", "patch"), events, lease("external-resizer-"+driver))},
		"csi-snapshotter": {"csi-snapshotter",
			"https://github.com/kubernetes-csi/external-snapshotter/blob/v6.3.4/deploy/kubernetes/csi-snapshotter/rbac-csi-snapshotter.yaml",
			slices.Concat(
				grants(snapshot, "volumesnapshotclasses", read...),
				grants(snapshot, "volumesnapshotcontents", append(read, "update", "patch")...),
				grants(snapshot, "volumesnapshotcontents/status", "update", "patch"), events, lease("external-snapshotter-leader-"+driver))},
		// Not beside a driver: one for all of them.
		"snapshot-controller": {"snapshot-controller",
			"https://github.com/kubernetes-csi/external-snapshotter/blob/v8.6.0/deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml",
			slices.Concat(
				grants("", "persistentvolumes", read...), grants("", "persistentvolumeclaims", append(read, "update")...),
				grants(snapshot, "volumesnapshotclasses", read...),
				grants(snapshot, "volumesnapshotcontents", append(read, "create", "update", "patch", "delete")...),
				grants(snapshot, "volumesnapshotcontents/status", "patch"),
				grants(snapshot, "volumesnapshots", append(read, "update", "patch")...),
				grants(snapshot, "volumesnapshots/status", "update", "patch"), events, lease("snapshot-controller-leader"))},
		// vSphere's, beside its driver.
		"syncer": {"vsphere-syncer", "https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/cmd/syncer/main.go", lease("vsphere-syncer")},
	}
}

// leaseName is what a sidecar makes of its own name:
// https://github.com/kubernetes-csi/csi-lib-utils/blob/v0.14.0/leaderelection/leader_election.go
func leaseName(name string) string {
	return regexp.MustCompile("[^a-zA-Z0-9-]").ReplaceAllString(name, "-")
}
