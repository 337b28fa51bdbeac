package observation

import (
	"time"
)

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
	// Program that it runs, such as kube-apiserver; known of those beside KCM.
	Program string
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
	// Reconcilers are those who seem to write the Deployment again when someone else changed it, "Argo CD application web" for
	// example. None: no mark tells of one.
	Reconcilers []string
	// Unseen are sentences about static pods that cannot be looked at, and pods that should be static and are not.
	Unseen []Text
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
	// Image is what the kubelet says that the container runs, and before it says so the image of the pod.
	Image     string
	StartedAt time.Time
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

// Neighbor is a component beside KCM that is looked at and not changed. In-tree flags of it are seen, so that no row claims that
// they are gone while they are not.
type Neighbor struct {
	Component
	// Field of the Cluster that is about it.
	Field string
	// Foreign says that the spec calls it so; else the spec says nothing of it.
	Foreign bool
}

// APIServers are those parts of the control plane that run kube-apiserver, whoever owns them.
func (c ControlPlane) APIServers() []Component {
	var servers []Component
	for _, component := range c.Others {
		if component.Program == APIServerProgram {
			servers = append(servers, component)
		}
	}
	for _, neighbor := range c.Neighbors {
		if neighbor.Program == APIServerProgram {
			servers = append(servers, neighbor.Component)
		}
	}
	return servers
}

// APIServerProgram is what Component.Program is for an API server.
const APIServerProgram = "kube-apiserver"

// DeletionCostAnnotation makes a ReplicaSet delete its other pods first
// (https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#pod-deletion-cost).
const DeletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost"
