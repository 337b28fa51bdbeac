package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CloudSpec names the cloud of a user cluster.
type CloudSpec struct {
	// providerName is a provider of the catalogue, such as openstack. Immutable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ProviderName string `json:"providerName,omitempty"`

	// configSecretRef names the Secret, in this namespace, with the provider's cloud configuration.
	// +required
	ConfigSecretRef SecretReference `json:"configSecretRef,omitzero"`

	// clusterName is the value of --cluster-name, which load balancer names derive from. Immutable once set. Default:
	// what the in-tree KCM uses, so that a migrated cluster keeps its load balancers. Another name is refused at the start of a
	// migration, unless the in-tree provider names no load balancer after it, as with OpenStack.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClusterName string `json:"clusterName,omitempty"`

	// loadBalancers says what becomes of load balancers that the in-tree provider made, where the CCM never deletes one of that
	// name, as with OpenStack. Keep leaves the names. Rename gives them the CCM's names when the migration is completed: the
	// in-tree provider does not find them any more. Default is Keep. Without effect with other providers.
	// +optional
	LoadBalancers LoadBalancersChoice `json:"loadBalancers,omitempty"`

	// controllerManager says where the cloud-controller-manager runs.
	// +optional
	ControllerManager CloudControllerManagerSpec `json:"controllerManager,omitempty,omitzero"`
}

// LoadBalancersChoice says what becomes of load balancers that the in-tree provider made.
// +kubebuilder:validation:Enum=Keep;Rename
type LoadBalancersChoice string

const (
	// KeepLoadBalancers leaves their names.
	KeepLoadBalancers LoadBalancersChoice = "Keep"
	// RenameLoadBalancers gives them the names by which the CCM deletes them with their Services.
	RenameLoadBalancers LoadBalancersChoice = "Rename"
)

// CloudControllerManagerPlacement says in which cluster the cloud-controller-manager runs.
// +kubebuilder:validation:Enum=UserCluster;ControlPlane
type CloudControllerManagerPlacement string

const (
	// InUserCluster means namespace kube-system of the user cluster.
	InUserCluster CloudControllerManagerPlacement = "UserCluster"
	// BesideControlPlane means the namespace of the Cluster in the management cluster, where a Hosted control plane is.
	BesideControlPlane CloudControllerManagerPlacement = "ControlPlane"
)

// CloudControllerManagerSpec says where the cloud-controller-manager runs.
type CloudControllerManagerSpec struct {
	// placement is UserCluster, namespace kube-system of the user cluster, or ControlPlane, the namespace of the Cluster in
	// the management cluster: its cloud configuration then never gets into the user cluster. The CSI driver is in the user
	// cluster always. Default is UserCluster. Immutable once the external cloud provider is enabled.
	// +optional
	Placement CloudControllerManagerPlacement `json:"placement,omitempty"`
}

// RenamedLoadBalancersStatus is how load balancers were renamed.
type RenamedLoadBalancersStatus struct {
	// count is how many of them have the CCM's name.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Count int32 `json:"count,omitempty"`

	// finishedAt is when all of them had it.
	// +optional
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
}

// DefaultStorageClassStatus is how the default StorageClass was judged.
type DefaultStorageClassStatus struct {
	// name of the default class at that time; empty where no one looked because the CSI driver is someone else's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// judgedAt is when it was judged.
	// +optional
	JudgedAt *metav1.Time `json:"judgedAt,omitempty"`
}
