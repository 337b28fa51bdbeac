package observation

import (
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
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
	// Turn is what a Cluster that has not started waits for, whatever its user cluster is like; absent: it may start. HourlyLooks
	// says that its turn comes soon, so that it is looked at more often.
	Turn        Observed[Turn]
	HourlyLooks bool
	// CloudConfig is the Secret with the cloud configuration; absent when it does not exist.
	CloudConfig Observed[CloudConfig]
	// Connection is the way into the user cluster.
	Connection Connection
	// Record is what an earlier Cluster of this name left, and this one keeps; absent when there is none. Keeper is the object that
	// it is a record of: KCM's Deployment, or the kubeconfig Secret that leads to static pods.
	Record Observed[Record]
	Keeper Observed[Ref]
	// Namespace of a Cluster that is being deleted: whether it is, too.
	NamespaceTerminating Observed[bool]

	// ControlPlane is what runs in the namespace of the Cluster; absent when the KCM Deployment does not exist.
	ControlPlane Observed[ControlPlane]
	// KCMLeaseRight is looked at while Needs say so.
	KCMLeaseRight Observed[LeaseRight]
	// CCMProcesses are those of the CCM's identity that the Lease's holder may be, when one of them was seen to end; otherwise none.
	CCMProcesses Observed[[]Process]
	// Processes are the persisted KCM processes, with the ends that were seen since.
	Processes []ucv1.ManagerProcess
	// MachineController are those of the machine-controller's Deployments that exist.
	MachineController Observed[[]MachineControllerDeployment]

	// The facts below come from the user cluster.
	Addons   Observed[Addons]
	Probe    Observed[Probe]
	Fence    Observed[Fence]
	KCMLease Observed[Lease]
	CCMLease Observed[Lease]
	Lock     Observed[Lock] // absent: no one asks for protocol LeaderMigration
	// ServerVersion is what one of the API servers answers, while Needs say so.
	ServerVersion Observed[string]
	Machines      Observed[Machines] // absent: the machine-controller's CRDs are not there
	Nodes         Observed[[]Node]
	Inventory     Observed[Inventory]
	Baseline      Observed[Inventory] // the persisted one; absent: none was taken
	// Proofs are those of kubelets that were kept; absent: none were, or their Secret is gone.
	Proofs Observed[KeptProofs]
	// Registered are the paths of the in-tree volumes that the CSI driver knows, while Needs say so; absent: the kind that says
	// so does not exist.
	Registered Observed[map[string]bool]
	// Bootstraps is what was read of the bootstrap data of BootstrapsOf, by the UID of the MachineDeployment; absent: there are
	// none.
	Bootstraps Observed[map[string]BootstrapData]
	// Gone is what was found where something of MissingOf was, by its UID.
	Gone Observed[map[string]Gone]
	// Measured is how long Nodes and load balancers took; absent while nothing is measured.
	Measured Observed[slo.Seen]
	// ForeignCCMs are the cloud-controller-managers of the user cluster that are not ours.
	ForeignCCMs Observed[[]ForeignCCM]
	// StorageClasses are looked at while the default one is to be judged.
	StorageClasses Observed[[]StorageClass]

	// OldLoadBalancers are looked at in the cloud while they are to be renamed.
	OldLoadBalancers Observed[[]OldLoadBalancer]

	// Findings are those of package preflight, until the first Machine is replaced.
	Findings Observed[[]Finding]

	// CCMNode is the Node that the CCM leads on, while Machines are replaced; the choice of the Machine that goes rests on it, and
	// nothing else.
	CCMNode Observed[string]

	// Canary is looked at while Needs say so. Drains are those of DrainsOf; only messages rest on them.
	Canary Observed[CanaryWorkload]
	Drains Observed[[]Drain]

	// Plan is foreseen while Needs say so; absent: no one asks for it.
	Plan Observed[ForeseenPlan]

	// The facts below are looked at in a rollback only. CCMPods are the names of the pods that run as the CCM's identity and
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

// ParseRef reads what persons write into a spec as String writes it.
func ParseRef(text string) (ref Ref, named bool) {
	kind, name, named := strings.Cut(text, " ")
	if namespace, own, namespaced := strings.Cut(name, "/"); namespaced {
		return Ref{Kind: kind, Namespace: namespace, Name: own}, named
	}
	return Ref{Kind: kind, Name: name}, named
}

// Reference says that messages can name it, and whatever it is a part of.
func (r Ref) Reference() Ref { return r }

// The bounds of lists of names in a status, and of what an API server takes for a name.
const (
	maxNames     = 10
	maxLabel     = 63
	maxSubdomain = 253
)

// NamesOf are the first of the objects, for the status. What no object can be called is left out: flags say what they like, and
// the whole status would be refused.
func NamesOf(refs []Ref) []ucv1.ObjectName {
	var names []ucv1.ObjectName
	for _, ref := range refs {
		can := ref.Kind != "" && ref.Name != "" && len(ref.Kind) <= maxLabel && len(ref.Namespace) <= maxLabel &&
			len(ref.Name) <= maxSubdomain
		if can && len(names) < maxNames {
			names = append(names, ucv1.ObjectName{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name})
		}
	}
	return names
}

// RefsOf names that are in a status.
func RefsOf(names []ucv1.ObjectName) []Ref {
	var refs []Ref
	for _, name := range names {
		refs = append(refs, Ref{Kind: name.Kind, Namespace: name.Namespace, Name: name.Name})
	}
	return refs
}

// NodeRef names a Node.
func NodeRef(name string) Ref { return Ref{Kind: "Node", Name: name} }

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
	// Secret with the kubeconfig, where the message names it.
	Secret Ref
	// Refused says that a person must change the kubeconfig.
	Refused bool
}

// Text of the message, with what it names.
func (c Connection) Text() Text {
	if c.Secret == (Ref{}) {
		return Say(c.Message)
	}
	return Say(c.Message).About(c.Secret)
}

// CloudConfig is the Secret with the cloud configuration, without its values.
type CloudConfig struct {
	Ref
	// Version is the Secret's resourceVersion.
	Version string
	// Problem is a sentence when the configuration is there but cannot be used.
	Problem string
	// Changed are its settings that do something else with the external provider, or nothing.
	Changed []ChangedSetting
}

// ChangedSetting is a setting of a cloud configuration, without its value.
type ChangedSetting struct {
	// Name with its section, as in the file.
	Name string
	// Effect is what follows "Setting NAME", Remedy a sentence.
	Effect, Remedy string
}

// RefNames are the names for a message, with their kinds.
func RefNames(refs []Ref) []string {
	names := make([]string, 0, len(refs))
	for _, ref := range refs {
		names = append(names, ref.String())
	}
	return names
}
