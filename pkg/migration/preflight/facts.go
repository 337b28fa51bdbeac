package preflight

import (
	"reflect"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Facts are what the checks rest on. The first ones are looked at in every pass anyway; the others are read for the checks only.
type Facts struct {
	Cluster *ucv1.Cluster
	// Deadlines are the real ones when they are left out.
	Deadlines         observation.Deadlines
	Provider          observation.Observed[observation.Provider]
	CloudConfig       observation.Observed[observation.CloudConfig]
	ControlPlane      observation.Observed[observation.ControlPlane]
	MachineController observation.Observed[[]observation.MachineControllerDeployment]
	KCMLease          observation.Observed[observation.Lease]
	Machines          observation.Observed[observation.Machines]
	Nodes             observation.Observed[[]observation.Node]

	Read
}

// Read are the facts that are read from the user cluster for the checks only.
type Read struct {
	// At is when they were read, on our clock.
	At             time.Time
	NodeDetails    observation.Observed[[]NodeDetail]
	Services       observation.Observed[[]Service]
	Volumes        observation.Observed[[]Volume]
	Attachments    observation.Observed[[]Attachment]
	StorageClasses observation.Observed[[]observation.StorageClass]
	Pods           observation.Observed[Pods]
	Budgets        observation.Observed[[]Budget]
	// Pools are the MachineDeployments as their owners see them; absent: the machine-controller's CRDs are not there.
	Pools    observation.Observed[[]Pool]
	Webhooks observation.Observed[[]Webhook]
	// Denied are sentences about rights that our credentials lack.
	Denied      observation.Observed[[]string]
	Credentials observation.Observed[Credentials]
	Server      observation.Observed[Server]
	// Cloud is what the CCM says of the cloud; it is looked at when the CCM leads.
	Cloud observation.Observed[Cloud]
}

// Complete says that every fact could be looked at, a new one too. What needs the cloud is looked at when the CCM leads, and is
// no part of it.
func (r Read) Complete() bool {
	r.Cloud = observation.Absent[Cloud]()
	for _, value := range reflect.ValueOf(r).Fields() {
		if fact, observed := reflect.TypeAssert[interface{ IsUnknown() bool }](value); observed && fact.IsUnknown() {
			return false
		}
	}
	return true
}

// NodeDetail is what the proof on a Node does not ask for.
type NodeDetail struct {
	Name           string
	Labels         map[string]string
	PodCIDRs       []string
	KubeletVersion string
	// NodeIP is the address that --node-ip asks for.
	NodeIP string
	// NetworkUnavailable says that its condition of that name is True.
	NetworkUnavailable bool
	// ControlPlane says that it is a Node of the control plane, by label.
	ControlPlane bool
	// Attached are the unique names of in-tree volumes in its status.
	Attached []string
}

// Service is a Service of type LoadBalancer.
type Service struct {
	Namespace, Name string
	// Class of the load balancer; with one it is none of the cloud provider's.
	Class   string
	Ingress []string
	// Marked says that the CCM of OpenStack has written an annotation of its own: it has led here before.
	Marked    bool
	Deleting  bool
	CreatedAt time.Time
}

// Volume is a PersistentVolume.
type Volume struct {
	Name, Phase string
	// Plugin is the in-tree plugin of a cloud that it was made for; empty for all others.
	Plugin string
	// Untranslatable says that CSI migration has nothing to put in its place.
	Untranslatable bool
	// Terms of the node affinity: one of them has to match.
	Terms []Term
}

// Term is a set of requirements on the labels of a Node, by label; another operator than In is left out.
type Term map[string][]string

// Attachment is a VolumeAttachment.
type Attachment struct {
	Name, Attacher, Node string
	Deleting             bool
	// Problem is that of attaching or detaching.
	Problem string
}

// Pods is what matters of all pods.
type Pods struct {
	// Inline are pods with in-tree volumes that have no PersistentVolume, by plugin.
	Inline map[string][]observation.Ref
	// Untranslatable are those of them with a volume that CSI migration has nothing to put in the place of.
	Untranslatable []observation.Ref
	// Pulling are pods without a secret for pulling, by the host of an image of theirs that a kubelet of a cloud has a password for.
	Pulling map[string][]observation.Ref
	// Autoscalers are workloads' pods that run the cluster-autoscaler.
	Autoscalers []observation.Ref
}

// Budget is a PodDisruptionBudget.
type Budget struct {
	Namespace, Name string
	// Expected pods, Healthy ones of them, and how many may be disrupted now.
	Expected, Healthy, Allowed int32
	// Stale says that its status is about another spec.
	Stale bool
}

// Pool is a MachineDeployment as its owner sees it.
type Pool struct {
	observation.Ref
	// Tool that seems to write it, such as Argo CD; empty: no one by himself.
	Tool string
	// Autoscaled says that it carries annotations of the cluster-autoscaler.
	Autoscaled bool
	// Replicas are the Machines that it wants, and Surge is how many more it may have while it is rolled, without those that are
	// being deleted.
	Replicas, Surge int
	// Write is what a write that changes nothing comes to; absent: the API server cannot try one.
	Write observation.Observed[Write]
}

// Write is what the admission webhooks of a MachineDeployment make of a write, as a dry run shows.
type Write struct {
	// Refused says why a webhook does not let it pass; empty: all do.
	Refused string
	// Rewritten says that a webhook changes the template, so that any write rolls the Machines.
	Rewritten bool
}

// Webhook is an admission webhook that our addons pass.
type Webhook struct {
	// Configuration is its object, Name its own within that.
	Configuration string
	Name          string
	// Fails says that the request is refused when it does not answer.
	Fails bool
	// Matches are the resources of our addons that it asks for.
	Matches []string
	// Service that answers, as namespace/name, and whether one of its endpoints is ready; empty for an URL.
	Service string
	Ready   observation.Observed[bool]
}

// Credentials are ours for the user cluster.
type Credentials struct {
	// Expires is when a client certificate or a token runs out. Zero: never, or no one can tell from them.
	Expires time.Time
	// Source is the Secret that they are from.
	Source observation.Ref
}

// Server is the API server of the user cluster.
type Server struct {
	// Version that it says it has, such as v1.30.14.
	Version string
	// Skew of its clock against ours: positive when it is ahead. It is as exact as a second.
	Skew time.Duration
}

// Cloud is what the CCM says of the cloud, when it leads.
type Cloud struct {
	// Services whose load balancer the CCM could not ensure, with its words.
	Services []Complaint
	// Routes of Nodes that it could not make.
	Routes []Complaint
}

// Complaint is an event of an object.
type Complaint struct {
	Object  observation.Ref
	Message string
}
