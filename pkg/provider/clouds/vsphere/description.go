package vsphere

import (
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Describe says what people need to know of vSphere.
func (Profile) Describe() manifest.Description {
	return manifest.Description{
		Title: "vSphere",
		Projects: []string{
			"https://github.com/kubernetes/cloud-provider-vsphere", "https://github.com/kubernetes-sigs/vsphere-csi-driver",
		},
		InTree: &manifest.InTree{
			Name: Name, LastMinor: leadermigration.LastInTreeVSphere, Plugins: map[string]string{inTreePlugin: driver},
		},
		ProviderID: `^vsphere://[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`,
		NodeNames: "The Node's name has to be the host name that VMware Tools report for the virtual machine, in lower case; two " +
			"machines with one name are an error.",
		LoadBalancers: "There are none, in-tree neither: Services of type LoadBalancer belong to other programs and stay with " +
			"them.",
		Keys: []manifest.Key{
			{Name: configKey, Required: true, Text: "The file of the in-tree provider (INI) as it is, or that of the external one " +
				"(YAML)."},
			{Name: "<server>.username, <server>.password", Text: "The credentials of a vCenter, where vsphere.conf takes them from a " +
				"Secret: the keys of that Secret as they are. They go before credentials in vsphere.conf."},
			{Name: "<file>", Text: "The CA bundle that ca-file names, under the file's name without its folder."},
			{Name: clusterIDKey, Text: "The cluster-id of a CSI driver that the cluster had before. Without it: the cluster's UID."},
			{Name: datastoreKey, Text: "The URL (ds:///vmfs/volumes/…/) of the in-tree provider's default datastore, for " +
				"StorageClasses of " + inTreePlugin + " that name neither a datastore nor a storage policy."},
		},
		Hazards: slices.Concat(prerequisites(), hazards(), podHazards(), machineHazards(), versionHazards(), minorHazards(),
			manifest.VolumeHazards(inTreePlugin)),
		Rules: versionRules(),
	}
}

// prerequisites cannot be seen from the cluster.
func prerequisites() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "CSI migration needs vSphere 7.0u2 or later, which cannot be seen from the cluster: look at every vCenter and host " +
				"before.",
			Link: "https://kubernetes.io/docs/concepts/storage/volumes/#vsphere-csi-migration",
		},
		{
			Text: "The CSI driver's user needs privileges that the in-tree provider's does not: Cns.Searchable and the view of storage " +
				"profiles, both on the root of each vCenter. Without them volumes are neither registered nor attached after the " +
				"hand-over: grant them before.",
			Link: "https://docs.vmware.com/en/VMware-vSphere/7.0/com.vmware.vsphere.storage.doc/" +
				"GUID-AEB07597-F303-4FDD-87D9-0FDA4836E5BB.html",
		},
		{
			Text: "The CSI driver needs virtual machines of hardware version 15 or later with disk.EnableUUID set: look at the " +
				"templates of the Machines, and at the Nodes without a Machine.",
			Link: "https://github.com/kubernetes/cloud-provider-vsphere/blob/1db89384ba1b6435abe9fb59732d3631ac1d19e2/docs/book/" +
				"tutorials/enabling-vsphere-csi-on-an-existing-cluster.md#virtual-machine-hardware-requirements",
		},
	}
}

func hazards() []manifest.Hazard {
	const (
		ccm = "https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/"
		csi = "https://github.com/kubernetes-sigs/vsphere-csi-driver/"
	)
	return []manifest.Hazard{
		{
			Text: "In-tree volumes are registered in vCenter one by one after the CSI driver has started. No Node is drained before " +
				"each has a CnsVSphereVolumeMigration; never delete those objects while volumes exist.",
			Link: csi + "issues/2165",
		},
		{
			Text: "With more than one vCenter the CSI driver does not serve in-tree volumes at all: move them to volumes of its own " +
				"first.",
			Link: csi + "blob/v3.7.2/pkg/csi/service/vanilla/controller.go#L359-L371",
		},
		{
			Text: "StorageClasses of the in-tree plugin with a diskformat other than thin, or with parameters of vSAN, make no new " +
				"volumes any more: make a class of " + driver + " with a storage policy; existing volumes stay.",
			Link: csi + "blob/v3.7.2/pkg/csi/service/common/util.go#L280-L297",
		},
		{
			Text: "The CSI driver marks volumes with its cluster-id, and another one orphans them. Give the former one under key " +
				"cluster-id. If ConfigMap kube-system/vsphere-csi-cluster-id is there, the driver stops: give its value as key cluster-id " +
				"and delete it.",
			Link: csi + "blob/v3.7.2/pkg/csi/service/driver.go#L152-L195",
		},
		{
			Text: "Nodes get the CSI labels topology.csi.vmware.com/zone and region, and volumes that an earlier CSI driver made with " +
				"other labels fit no new Node. Compare the nodeAffinity of such PersistentVolumes before, and give the Nodes those " +
				"labels, too.",
			Link: csi + "blob/v3.7.2/pkg/syncer/cnsoperator/controller/csinodetopology/csinodetopology_controller.go#L514-L580",
		},
		{
			Text: "A Node that is not ready, and whose virtual machine is in none of the datacenters given or may not be seen by the " +
				"user, is deleted: name all datacenters, and give the user read access to all of them.",
			Link: ccm + "pkg/cloudprovider/vsphere/instances.go#L155-L180",
		},
		{
			Text: "Without VMware Tools, a network card and a host name that they report, a Node is never initialized: have them run " +
				"before.",
			Link: ccm + "pkg/cloudprovider/vsphere/nodemanager.go#L221-L232",
		},
		{
			Text: "A Node's addresses are the first that VMware Tools report, which may be one of the pod network, unless the " +
				"configuration names networks or subnets: compare them, and keep such cards out with exclude-nics of VMware Tools.",
			Link: ccm + "docs/book/known_issues.md",
		},
		{
			Text: "Wrong credentials show in the log only, and in Nodes that stay uninitialized: the process goes on and is healthy.",
			Link: ccm + "pkg/common/connectionmanager/connectionmanager.go#L137-L166",
		},
		{
			Text: "The driver's validating webhook is not deployed: all it does for a migration is to refuse new StorageClasses with " +
				"the parameters of migrated ones. That of an earlier installation, validation." + driver + ", blocks every change of " +
				"StorageClasses and claims while it has no endpoints or its certificate has run out: delete its configuration.",
			Link: csi + "blob/v3.7.2/manifests/vanilla/validatingwebhook.yaml",
		},
	}
}

// podHazards are about volumes that pods have without a PersistentVolume.
func podHazards() []manifest.Hazard {
	return []manifest.Hazard{{
		Text: "A pod with a vsphereVolume of its own that has a storagePolicyName ends kube-controller-manager with a panic, again " +
			"at each start, once it is on a Node whose kubelet migrates volumes (seen with 1.25.0 and 1.29.15): take the " +
			"storagePolicyName out of the workload before.",
		Link: "https://github.com/kubernetes/csi-translation-lib/blob/v0.36.4/plugins/vsphere_volume.go#L149-L151",
	}}
}

// machineHazards are about Machines that go.
func machineHazards() []manifest.Hazard {
	return []manifest.Hazard{{
		Text: "The machine-controller deletes the pods with volumes of a Machine that goes, whatever their PodDisruptionBudgets " +
			"allow, and deletes no virtual machine while its Node has VolumeAttachments: see that volumes are detached before the roll.",
		Link: "https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/node/poddeletion/pod_deletion.go#L56-L91",
	}}
}

// versionHazards are about gates of single minors.
func versionHazards() []manifest.Hazard {
	return []manifest.Hazard{
		{
			Text: "From 1.25 on the gate CSIMigrationvSphere is on unless someone switches it off, from 1.27 on for good: an in-tree " +
				"cluster needs the CSI driver for its volumes then, migrated or not. Have one before the upgrade, or the gate off up to " +
				"1.26.",
			Link: "https://github.com/kubermatic/kubermatic/pull/11951",
		},
		{
			Text: "In 1.29 components with --cloud-provider=vsphere start only with the gate DisableCloudProviders=false: set it " +
				"before an in-tree cluster is upgraded to 1.29, or migrate in 1.28. The migration takes it away together with the in-tree " +
				"flags.",
			Link: "https://github.com/kubernetes/website/blob/main/content/en/docs/reference/command-line-tools-reference/feature-gates/" +
				"DisableCloudProviders.md",
		},
		{
			Text: "Gate InTreePluginvSphereUnregister is unknown to 1.31: take it off all components before they are upgraded to that.",
			Link: "https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/features/kube_features.go#L1100",
		},
	}
}

func versionRules() []manifest.VersionRule {
	const (
		create, upgrade, migrate = manifest.Create, manifest.Upgrade, manifest.Migrate
		manual                   = "https://docs.kubermatic.com/kubermatic/v2.18/tutorials_howtos/ccm_migration"
		deleted                  = "https://github.com/kubernetes/cloud-provider-vsphere/issues/1251"
	)
	return []manifest.VersionRule{
		{
			From: 22, To: 22, Operations: []manifest.Operation{create, migrate},
			Reason: "The CSI driver of its time does not support 1.22: take a later one.", Link: manual,
		},
		{
			From: 22, To: 22, Operations: []manifest.Operation{upgrade}, Condition: manifest.WhileExternal,
			Reason: "The CSI driver of its time does not support 1.22: a cluster that has migrated stays off it.", Link: manual,
		},
		{
			To: firstMinor - 1, Operations: []manifest.Operation{create, upgrade}, Condition: manifest.WhileExternal,
			Reason: "The images of the cloud-controller-manager and the CSI driver for minors before 1.28 were deleted: create the " +
				"cluster with 1.28 or newer.",
			Link: deleted,
		},
		{
			To: firstMinor - 1, Operations: []manifest.Operation{migrate}, Condition: manifest.WhileInTree,
			Reason: "The images of the cloud-controller-manager and the CSI driver for minors before 1.28 were deleted: upgrade with " +
				"the in-tree provider to 1.28, and migrate there.",
			Link: "https://github.com/kubermatic/kubermatic/issues/13719",
		},
		{
			From:       leadermigration.LastInTreeVSphere + 1,
			Operations: []manifest.Operation{create, upgrade, migrate}, Condition: manifest.WhileInTree,
			Reason: "Kubernetes 1.29 is the last with the in-tree provider vsphere: migrate in 1.28 or 1.29, and upgrade then. A " +
				"cluster that is external already is created with the feature.",
			Link: "https://github.com/kubernetes/legacy-cloud-providers/tree/v0.30.2",
		},
	}
}

// Example is a cloud configuration that is complete: the file of the in-tree provider, as it is.
func (Profile) Example() map[string][]byte {
	return map[string][]byte{configKey: []byte("[Global]\nuser = \"alpha@vsphere.local\"\npassword = \"example-only\"\n" +
		"port = \"443\"\ninsecure-flag = \"1\"\ndatacenters = \"one, two\"\n\n[VirtualCenter \"vcenter.example.com\"]\n\n" +
		"[Workspace]\nserver = \"vcenter.example.com\"\ndatacenter = \"one\"\nfolder = \"alpha\"\n" +
		"default-datastore = \"fast\"\n\n[Disk]\nscsicontrollertype = pvscsi\n\n" +
		"[Network]\npublic-network = \"VM Network\"\n\n[Labels]\nregion = k8s-region\nzone = k8s-zone\n")}
}

// minorHazards are about a minor that the CSI driver does not name.
func minorHazards() []manifest.Hazard {
	return []manifest.Hazard{{
		Text: "v3.8.0 is the first release of the CSI driver that names Kubernetes 1.36. No promotion of its images is known, so " +
			"that 1.36 gets v3.7, as elsewhere: try volumes there before you migrate.",
		Link: "https://github.com/kubernetes-sigs/vsphere-csi-driver/releases/tag/v3.8.0",
	}}
}
