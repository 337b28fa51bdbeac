package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/slo"
)

// Observation is everything that one decision rests on. The controllers fill it, and so does the simulation.
type Observation struct {
	// Cluster is the object itself: its spec and the facts persisted in its status.
	Cluster *ucv1.Cluster
	// Deadlines are the real ones when they are left out.
	Deadlines Deadlines
	// Contenders is absent when no other Cluster names the same control plane, else known with their names.
	Contenders Observed[[]string]
	// UnknownProvider is a sentence when the catalogue does not have the cluster's provider, with the one that was likely meant.
	UnknownProvider string
	// Provider is the catalogue's entry for the cluster's provider and version; absent when there is none.
	Provider Observed[Provider]
	// InTree is KCM's Deployment, without its pods, of a cluster whose feature is off.
	InTree Observed[Component]
	// Look is what this pass did of a look ahead: LookDone fills in the other facts of a cluster whose feature is off, too.
	Look LookState
	// CloudConfig is the Secret with the cloud configuration; absent when it does not exist.
	CloudConfig Observed[CloudConfig]
	// Connection is the way into the user cluster.
	Connection Connection
	// Record is what an earlier Cluster of this name left, and this one keeps; absent when there is none. Keeper is the object that it
	// is a record of: KCM's Deployment, or the kubeconfig Secret that leads to static pods.
	Record Observed[Record]
	Keeper Observed[Ref]
	// Namespace of a Cluster that is being deleted: whether it is, too.
	NamespaceTerminating Observed[bool]

	// ControlPlane is what runs in the namespace of the Cluster; absent when the KCM Deployment does not exist.
	ControlPlane Observed[ControlPlane]
	// KCMLeaseRight is looked at while LooksAtKCMLeaseRight.
	KCMLeaseRight Observed[LeaseRight]
	// CCMProcesses are those of the CCM's identity that the Lease's holder may be, when one of them was seen to end; otherwise none.
	CCMProcesses Observed[[]Process]
	// Processes are the persisted KCM processes, with the ends that were seen since.
	Processes []ucv1.ManagerProcess
	// MachineController are those of the machine-controller's Deployments that exist.
	MachineController Observed[[]MachineControllerDeployment]

	// The facts below come from the user cluster.
	Addons    Observed[Addons]
	Probe     Observed[Probe]
	Fence     Observed[Fence]
	KCMLease  Observed[Lease]
	CCMLease  Observed[Lease]
	Lock      Observed[Lock]     // absent: no one asks for protocol LeaderMigration
	Machines  Observed[Machines] // absent: the machine-controller's CRDs are not there
	Nodes     Observed[[]Node]
	Inventory Observed[Inventory]
	Baseline  Observed[Inventory] // the persisted one; absent: none was taken
	// Proofs are those of kubelets that were kept; absent: none were, or their Secret is gone.
	Proofs Observed[KeptProofs]
	// Registered are the paths of the in-tree volumes that the CSI driver knows, while WantsRegistered; absent: the kind that says so does
	// not exist.
	Registered Observed[map[string]bool]
	// Bootstraps is what was read of the bootstrap data of BootstrapsOf, by the UID of the MachineDeployment; absent: there are none.
	Bootstraps Observed[map[string]BootstrapData]
	// Gone is what was found where something of MissingOf was, by its UID.
	Gone Observed[map[string]Gone]
	// Measured is how long Nodes and load balancers took; absent while nothing is measured.
	Measured Observed[slo.Seen]
	// OtherManagers are the cloud-controller-managers of the user cluster that are not ours.
	OtherManagers Observed[[]OtherManager]
	// StorageClasses are looked at while the default one is to be judged.
	StorageClasses Observed[[]StorageClass]

	// Findings are those of package preflight, until the first Machine is replaced.
	Findings Observed[[]Finding]

	// CCMNode is the Node that the CCM leads on, while Machines are replaced; the choice of the Machine that goes rests on it, and
	// nothing else.
	CCMNode Observed[string]

	// Canary is looked at while LooksAtCanary. Drains are while WantsDrains; only messages rest on them.
	Canary Observed[CanaryWorkload]
	Drains Observed[[]Drain]

	// Plan is foreseen while WantsPlan; absent: no one asks for it.
	Plan Observed[ForeseenPlan]

	// The facts below are looked at in an undo only. CCMPods are the names of the pods that run as the CCM's identity and
	// have not finished.
	CCMPods     Observed[[]string]
	Attachments Observed[[]Attachment]
}

// Ref names an object for people and for acting on it.
type Ref struct {
	Kind      string
	Namespace string
	Name      string
	UID       string
}

// String is Kind namespace/name, as it stands in messages.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// CloudConfig is the Secret with the cloud configuration, without its values.
type CloudConfig struct {
	Ref
	Keys []string
	// Version is the Secret's resourceVersion.
	Version string
	// Problem is a sentence when the configuration is there but cannot be used.
	Problem string
}

// Connection is the way into the user cluster.
type Connection struct {
	// Connecting says that the first attempt is still being made, as after a restart of ours.
	Connecting bool
	// Reachable says that the API server answered a moment ago.
	Reachable bool
	// Reason is one of the reasons of condition UserClusterReachable.
	Reason string
	// Message says what to do when it is not reachable.
	Message string
	// Refused says that a person must change the kubeconfig.
	Refused bool
}

// ControlPlane is the Hosted control plane in the management cluster, or the static pods of an External one.
type ControlPlane struct {
	KCM Component
	// Others are kube-apiserver and kube-scheduler, those that are ours to change.
	Others []Component
	// Neighbors are those that were found and are not ours to change, and NotSeen the programs that were not found.
	Neighbors []Neighbor
	NotSeen   []string
	// ManagementNodes are the Nodes that the recorded processes ran on: of the management cluster, or, for static pods, of
	// the user cluster.
	ManagementNodes map[string]ManagementNode
}

// Component is a control-plane Deployment, or the static pods of one component.
type Component struct {
	Ref
	// Container that runs the component.
	Container string
	// Arguments of the pod template: what a new pod would start with. Of static pods, those of one that may run cloud
	// loops, when there is one.
	Arguments Arguments
	// RolledOut says that the Deployment's status is about its newest template and that all replicas run it.
	RolledOut bool
	Replicas  int32
	// Pods are all pods of the Deployment's ReplicaSets, terminating ones included.
	Pods []Process
	// FieldOwner is the field manager that owns the arguments besides us, if any.
	FieldOwner string
	// Unseen are sentences about static pods that cannot be looked at, and pods that should be static and are not.
	Unseen []string
	// Missing are the Nodes that should show a static pod and show none.
	Missing []string
	// Former are processes of pods that a watch showed and that are gone now. Those that were not seen to end may go on.
	Former []Process
}

// Process is the component's container in one pod.
type Process struct {
	PodName     string
	PodUID      string
	NodeName    string
	BootID      string
	ContainerID string
	StartedAt   time.Time
	// Arguments that this pod was made with.
	Arguments          Arguments
	GracePeriodSeconds int64
	Terminating        bool
	Ready              bool
	// Ended says that the container was seen terminated, with a container ID, for a reason other than
	// ContainerStatusUnknown. EndedIDs below holds those whose pods are gone already.
	Ended bool
	// Finished says that the pod will never run again, whatever is known of its container's end.
	Finished bool
	// DeletionCost is the pod's annotation of that name.
	DeletionCost string
	// Started says that the container ever started; one that did not cannot run loops.
	Started bool

	// ConfigHash is what the kubelet identifies the manifest of a static pod with; empty for every other pod.
	ConfigHash string
	// Hostname that it takes part in elections under: its pod's, or with HostNetwork that of its Node, which it may share.
	Hostname    string
	HostNetwork bool
	// EndedAt is when, on our clock, a watch first showed its end, FinishedAt what its kubelet's clock says of it, in whole seconds.
	// Zero: no watch showed one.
	EndedAt, FinishedAt time.Time
	// SystemUUID of a static pod's Node.
	SystemUUID string
	// RunningSince is since when, on our clock, this container of a static pod has been seen running. Zero: it does not
	// run.
	RunningSince time.Time
}

// ManagementNode is a Node that KCM pods run on.
type ManagementNode struct {
	BootID string
	// LeaseRenewed is when, on our clock, the node's Lease was last seen to change. Zero: never seen.
	LeaseRenewed time.Time
	// RenewingSince is when we saw the first renewal of those up to LeaseRenewed that followed each other without a long
	// pause. Zero: never seen.
	RenewingSince time.Time
	// Ready and SystemUUID are looked at for static pods only.
	Ready      bool
	SystemUUID string
}

// Addons is the state of the CCM and CSI objects in the user cluster.
type Addons struct {
	CCM AddonSet
	CSI AddonSet
	// InventoryObjects is the number of objects that we applied.
	InventoryObjects int
	// Obsolete are objects of the inventory that are in no wanted set any more.
	Obsolete []Ref
}

// AddonSet is one of the two sets of objects.
type AddonSet struct {
	Version string
	// WorkloadWithheld says that the wanted objects are all but the workload, Withdrawn that none is.
	WorkloadWithheld bool
	Withdrawn        bool
	// Drifted are wanted objects that are missing or differ.
	Drifted []Ref
	// Foreign are objects that exist, are wanted, and are not in our inventory, with their owner in the Kind's place
	// of a message.
	Foreign []string
	// Takeovers are what adopting the foreign ones would change.
	Takeovers []Takeover
	// DriverProblem says why a CSIDriver that is someone else's does not satisfy ours; empty when it does, or there is none.
	DriverProblem string
	// SatisfiedBy is a healthy set that is someone else's and satisfies ours: it stays untouched.
	SatisfiedBy string
	// Unhealthy are sentences about workloads that are not ready yet.
	Unhealthy []string
	// Unschedulable says that the workloads wait for a Node only.
	Unschedulable bool
}

// MachineControllerProgram is what a Deployment of the machine-controller runs, whatever its name is.
type MachineControllerProgram string

// The programs that decide together what kubelet a new Machine gets.
const (
	MachineController      MachineControllerProgram = "machine-controller"
	MachineWebhook         MachineControllerProgram = "machine-controller-webhook"
	OperatingSystemManager MachineControllerProgram = "operating-system-manager"
)

// MachineControllerDeployment is one of the machine-controller's Deployments.
type MachineControllerDeployment struct {
	Component
	Program MachineControllerProgram
	// Flag that makes it hand out external kubelets, such as -node-external-cloud-provider.
	Flag string
	// InUserCluster says in which cluster it is.
	InUserCluster bool
	// Missing says that no such Deployment exists; Named, that the spec gives its name.
	Missing, Named bool
	// Denied says that it exists although the spec says that there is none.
	Denied bool
}

// Machines are the objects of the machine-controller.
type Machines struct {
	Deployments []MachineDeployment
	Sets        []MachineSet
	Machines    []Machine
}

// MachineDeployment is a MachineDeployment of the machine-controller.
type MachineDeployment struct {
	Ref
	Paused   bool
	Deleting bool
	// RestartValue is forceRestart in the template's metadata.
	RestartValue string
	Replicas     int32
	// Version and Generation of the object as it was seen.
	Version    string
	Generation int64
	// MaxSurge and MaxUnavailable in whole Machines, as the machine-controller resolves them; LimitProblem says why one of them cannot
	// be read, which allows nothing.
	MaxSurge, MaxUnavailable int32
	LimitProblem             string
	// Settled says that the status is about the newest template and that there are as many Machines as replicas, all of that template.
	// How many of them are available is not asked: none ever is while minReadySeconds is endless.
	Settled bool
	Guard
}

// MachineSet is a MachineSet of the machine-controller.
type MachineSet struct {
	Ref
	// Deployment is the UID of the MachineDeployment that owns it, or empty.
	Deployment   string
	RestartValue string
	CreatedAt    time.Time
	Replicas     int32
	// Version is its resourceVersion.
	Version string
	// Revision is the number that the machine-controller gave it.
	Revision string
	// Current says that its template is the MachineDeployment's, since then where that was seen to become so.
	Current      bool
	CurrentSince time.Time
}

// Machine is a Machine of the machine-controller.
type Machine struct {
	Ref
	// Set is the UID of the MachineSet that owns it, or empty.
	Set string
	// Annotation is the value of ExternalCloudProviderAnnotation.
	Annotation string
	NodeName   string
	CreatedAt  time.Time
	Deleting   bool
	// DeletingSince is zero unless it is being deleted.
	DeletingSince time.Time
	Finalizers    []string
	// Problem is the Machine's own error message.
	Problem string
	// OfCanary says that it was made for the canary.
	OfCanary bool
	// GoesFirst says that the machine-controller takes it first when it scales the MachineSet down.
	GoesFirst bool
}

// Node is a Node of the user cluster.
type Node struct {
	Name       string
	UID        string
	ProviderID string
	Ready      bool
	// ReadyChangedAt is when it became Ready, or ceased to be; zero: not known.
	ReadyChangedAt time.Time
	// Uninitialized says that it carries the taint node.cloudprovider.kubernetes.io/uninitialized.
	Uninitialized bool
	CreatedAt     time.Time
	// Kubelet shows whether it was registered with an external cloud provider.
	Kubelet Kubelet
	// CSIDrivers registered in its CSINode.
	CSIDrivers []string
	// Addresses with their types, such as "InternalIP 10.0.0.4", sorted.
	Addresses []string
	Labels    map[string]string
	PodCIDRs  []string
	// Routed says that the route loop reported a route to it.
	Routed bool
}

// Attachment is a VolumeAttachment.
type Attachment struct {
	Name     string `json:"-"` // a hash of the others
	Attacher string `json:"attacher"`
	Node     string `json:"node"`
	// Volume is the PersistentVolume; empty for one that stands in a pod.
	Volume string `json:"volume,omitempty"`
	// Problem is "attaching" or "detaching" when the last try of it failed.
	Problem string `json:"problem,omitempty"`
}
