package addons_test

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// reasons are what the CCM of a provider asks for beyond the loops of the library. What is granted and stands neither here nor
// there fails the test, and so does what stands here and is not granted: take it out.
func reasons(provider string) []asked {
	switch provider {
	case "openstack":
		return []asked{{
			"the load balancer's ID and address, in annotations of the Service",
			"https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/util/util.go#L111",
			grants("", "services", "patch"),
		}}
	case "azure":
		return []asked{{
			"its informer of EndpointSlices, which runs from 1.28 on, whether they are used or not",
			"https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure.go#L736",
			grants("discovery.k8s.io", "endpointslices", "list", "watch"),
		}}
	case "gcp":
		return []asked{{
			"the cluster's ID, which is in the names of instance groups and health checks; its list has no name in it",
			"https://github.com/kubernetes/cloud-provider-gcp/blob/v36.0.7/providers/gce/gce_clusterid.go#L116",
			of(metav1.NamespaceSystem, "", grants("", "configmaps", "list", "watch", "create")),
		}}
	}
	return nil
}

// furtherLeases are those that a CCM holds besides the one that it is elected by.
func furtherLeases(provider string) []string {
	if provider == "azure" {
		// Taken for every change of a load balancer, from 1.28 on.
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/pkg/provider/azure.go
		return []string{"aks-managed-resource-locker"}
	}
	return nil
}

// exceptions are what an account of a CSI driver may do although it is denied to all others.
func exceptions(account string) []asked {
	const azureFile = "https://github.com/kubernetes-sigs/azurefile-csi-driver/blob/v1.35.7/deploy/"
	switch account {
	case "azure-file-csi-controller":
		return []asked{{
			"the key of a storage account goes into a Secret beside the claim", azureFile + "rbac-csi-azurefile-controller.yaml",
			grants("", "secrets", "get", "create"),
		}}
	case "azure-file-csi-node":
		return []asked{{"and is read there to mount the share", azureFile +
			"rbac-csi-azurefile-node.yaml", grants("", "secrets", "get")}}
	case "hcloud-csi-controller":
		return []asked{{
			"the resizer looks for Pods that use a volume: it lacks --handle-volume-inuse-error=false, as upstream's",
			"https://github.com/hetznercloud/csi-driver/blob/v2.22.1/chart/templates/controller/clusterrole.yaml",
			grants("", "pods", "get", "list", "watch"),
		}}
	case "vsphere-csi-controller":
		return []asked{{
			"the syncer tells vCenter which Pods use a volume",
			"https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/manifests/vanilla/vsphere-csi-driver.yaml",
			grants("", "pods", "get", "list", "watch"),
		}, {
			"it makes its CustomResourceDefinitions itself, and an object to create has no name yet when that is allowed",
			"https://github.com/kubernetes-sigs/vsphere-csi-driver/blob/v3.7.2/manifests/vanilla/vsphere-csi-driver.yaml",
			grants("apiextensions.k8s.io", "customresourcedefinitions", "create"),
		}}
	}
	return nil
}

// denied is what no one in the catalogue may do: coming to other rights, reading secrets, seeing or running pods, making and
// deleting what is the cluster's owner's, and holding an election of someone else.
func denied() []grant {
	const rbac = "rbac.authorization.k8s.io"
	all := grants("*", "*", "*")
	for _, namespace := range []string{metav1.NamespaceSystem, metav1.NamespaceDefault} {
		for _, resource := range []struct {
			group, name string
			verbs       []string
		}{
			{"", "secrets", []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
			{"", "serviceaccounts", []string{"create", "update", "delete", "impersonate"}},
			{"", "serviceaccounts/token", []string{"create"}},
			{"", "pods", []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
			{"", "pods/exec", []string{"create", "get"}},
			{"", "services", []string{"create", "delete", "update"}},
			{"", "services/status", []string{"update"}},
			{"", "configmaps", []string{"update", "patch", "delete"}},
			{"apps", "deployments", []string{"create", "update", "patch", "delete"}},
			{"apps", "daemonsets", []string{"create", "update", "patch", "delete"}},
			{rbac, "roles", []string{"create", "update", "patch", "delete", "escalate", "bind"}},
			{rbac, "rolebindings", []string{"create", "update", "patch", "delete"}},
		} {
			all = append(all, of(namespace, "", grants(resource.group, resource.name, resource.verbs...))...)
		}
	}
	for _, resource := range []struct {
		group, name string
		verbs       []string
	}{
		{"", "nodes", []string{"create", "deletecollection"}},
		{"", "nodes/proxy", []string{"get", "create"}},
		{"", "namespaces", []string{"create", "update", "patch", "delete"}},
		{"", "users", []string{"impersonate"}},
		{"", "groups", []string{"impersonate"}},
		{rbac, "clusterroles", []string{"create", "update", "patch", "delete", "escalate", "bind"}},
		{rbac, "clusterrolebindings", []string{"create", "update", "patch", "delete"}},
		{"certificates.k8s.io", "certificatesigningrequests", []string{"create", "update"}},
		{"certificates.k8s.io", "certificatesigningrequests/approval", []string{"update"}},
		{"apiextensions.k8s.io", "customresourcedefinitions", []string{"create", "update", "patch", "delete"}},
		{"admissionregistration.k8s.io", "mutatingwebhookconfigurations", []string{"create", "update", "patch", "delete"}},
		{"admissionregistration.k8s.io", "validatingwebhookconfigurations", []string{"create", "update", "patch", "delete"}},
	} {
		all = append(all, grants(resource.group, resource.name, resource.verbs...)...)
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler", "cloud-provider-extraction-migration"} {
		all = append(all, of(metav1.NamespaceSystem, name, grants("coordination.k8s.io", "leases", "update", "patch", "delete"))...)
	}
	return append(
		all,
		of("kube-node-lease", "node", grants("coordination.k8s.io", "leases", "create", "update", "patch", "delete"))...)
}

// deniedToCCM is what a CCM may not do either, although CSI drivers do it.
func deniedToCCM() []grant {
	var all []grant
	all = append(all, grants("", "persistentvolumes", "get", "list", "watch", "create", "update", "patch", "delete")...)
	all = append(all, grants("", "persistentvolumeclaims", "get", "list", "update")...)
	all = append(all, grants("", "endpoints", "get", "list", "create", "update", "delete")...)
	all = append(all, grants("", "nodes/status", "update")...)
	all = append(all, grants("", "services", "get")...)
	all = append(all, grants("", "configmaps", "get", "list", "watch", "create")...)
	all = append(all, of(metav1.NamespaceSystem, "another", grants("", "configmaps", "get", "list", "watch"))...)
	all = append(all, grants("storage.k8s.io", "volumeattachments", "get", "list", "delete")...)
	return append(
		all,
		of(metav1.NamespaceSystem, "", grants("coordination.k8s.io", "leases", "list", "watch", "deletecollection"))...)
}
