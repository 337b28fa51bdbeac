package simulation

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Traits are what a world is like besides what is in it.
type Traits struct {
	// LeasesAreFree lets the CCM's identity write its Lease whatever the fence says.
	LeasesAreFree bool
	// ProbeDies ends every CCM as soon as it leads, until a person fixes the cloud configuration.
	ProbeDies bool
	// KCMIsSomeoneElse keeps KCM from the migration lock's Lease until a person grants it.
	KCMIsSomeoneElse bool
	// CloudNodeLater is the catalogue's: the CCM starts without its loop cloud-node.
	CloudNodeLater bool
	// OldLoadBalancers is the catalogue's: the in-tree provider names load balancers in another way than the CCM.
	OldLoadBalancers bool
	// RegisteredBy is the catalogue's: the CSI driver has to register the cluster's volume, which is of the in-tree plugin.
	RegisteredBy string
	// UnreadBootstrap is why no bootstrap data can be read.
	UnreadBootstrap observation.BootstrapKubelet
	// HostNetwork has the CCM's pods share the hostnames of few Nodes.
	HostNetwork bool
	// LeftAlone lets the controller grant itself no right to KCM's Lease.
	LeftAlone bool
	// Gates are CSI migration gates of the catalogue; with them kube-apiserver and kube-scheduler are Deployments of ours, too.
	Gates map[string]bool
	// WithoutMachineController has no Deployments and no CRDs of it.
	WithoutMachineController bool
	// KubeletsKnowProviderID has kubelets set their providerID themselves, as --provider-id does.
	KubeletsKnowProviderID bool
	// LinksLate has external Nodes without an address until the CCM initializes them: only then the machine-controller finds the
	// Machine of one, and up to its next resync later.
	LinksLate bool
	// ReconciledAfter is how long after a change of KCM's Deployment someone writes the arguments back that it was made with; zero:
	// never.
	ReconciledAfter time.Duration
	// JoinTimeout is after how long the machine-controller deletes a Machine without a Node; zero: never.
	JoinTimeout time.Duration
	// DrainsNotReady has a Machine wait for the pods of its Node that is not Ready, which never end, as releases before v1.66.0 do.
	DrainsNotReady bool
	// WebhookAsks has the machine-controller's webhook ask the cloud about each MachineDeployment that is written and each Machine
	// that is made, and refuse it where it gets no answer.
	WebhookAsks bool
	// AnnotatedEvery is how often someone annotates the MachineDeployments; zero: never.
	AnnotatedEvery time.Duration
	// WithoutOperatingSystemManager lets the Machine's annotation decide about its kubelet, as old releases did.
	WithoutOperatingSystemManager bool
	// Hidden are Deployments of the machine-controller that run where the spec does not say.
	Hidden []string
}
