package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterSpec says what a user cluster is and what is wanted of it.
// +kubebuilder:validation:XValidation:rule="!has(self.cloud.controllerManager) || !has(self.cloud.controllerManager.placement) || self.cloud.controllerManager.placement != 'ControlPlane' || !has(self.controlPlane) || !has(self.controlPlane.type) || self.controlPlane.type != 'External'",message="spec.cloud.controllerManager.placement cannot be ControlPlane when spec.controlPlane.type is External: there is no control plane in the management cluster"
type ClusterSpec struct {
	// version is the Kubernetes version of the user cluster's control plane, such as 1.25.16 or v1.25.16.
	// It may not change while a migration runs.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^v?1\.[0-9]+\.[0-9]+$`
	Version string `json:"version,omitempty"`

	// paused stops the controller from changing anything; conditions are still reported.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// cloud names the cloud and its configuration.
	// +required
	Cloud CloudSpec `json:"cloud,omitzero"`

	// features switches optional behavior on.
	// +optional
	Features FeaturesSpec `json:"features,omitempty,omitzero"`

	// kubeconfigSecretRef names the Secret, in this namespace, with the kubeconfig of the user cluster.
	// Default is Secret <name>-kubeconfig, key value.
	// +optional
	KubeconfigSecretRef *SecretKeyReference `json:"kubeconfigSecretRef,omitempty"`

	// preflight says what a person decided about the findings against the start.
	// +optional
	Preflight PreflightSpec `json:"preflight,omitempty,omitzero"`

	// controlPlane says where the control plane runs.
	// +optional
	ControlPlane ControlPlaneSpec `json:"controlPlane,omitempty,omitzero"`

	// machineController says where the machine-controller runs.
	// +optional
	MachineController MachineControllerSpec `json:"machineController,omitempty,omitzero"`

	// rollout says how Machines are replaced.
	// +optional
	Rollout RolloutSpec `json:"rollout,omitempty,omitzero"`

	// slo says how the service level objectives are judged.
	// +optional
	SLO SLOSpec `json:"slo,omitempty,omitzero"`

	// addons says how the CCM and the CSI driver are applied.
	// +optional
	Addons AddonsSpec `json:"addons,omitempty,omitzero"`

	// handover says what a person decided about the hand-over.
	// +optional
	Handover HandoverSpec `json:"handover,omitempty,omitzero"`

	// mode is Migrate, or PlanOnly: the controller keeps the plan of the migration in status.plan, and starts it only when
	// approval.planDigest is that plan's. Default is Migrate.
	// +optional
	Mode MigrationMode `json:"mode,omitempty"`

	// approval is what a person approved. With a digest in it the migration starts with that plan only, in either mode.
	// +optional
	Approval ApprovalSpec `json:"approval,omitempty,omitzero"`

	// admission says who lets the Cluster start: Fleet, the FleetMigration that selects it, or Immediate, in an emergency: it starts
	// whatever a FleetMigration says, and counts in its budgets. Default is Fleet; where none selects it, it starts by itself unless
	// the manager's flag --fleet-admission is Required.
	// +optional
	Admission ClusterAdmission `json:"admission,omitempty"`

	// maintenance says when the Cluster's owner lets a FleetMigration start it.
	// +optional
	Maintenance ClusterMaintenance `json:"maintenance,omitempty,omitzero"`
}

// FeaturesSpec switches optional behavior of a user cluster on.
type FeaturesSpec struct {
	// externalCloudProvider moves the cluster to the external cloud provider. It can never be unset again.
	// +optional
	ExternalCloudProvider *bool `json:"externalCloudProvider,omitempty"`
}

// SecretReference names a Secret in the namespace of the Cluster.
type SecretReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// SecretKeyReference names a key of a Secret in the namespace of the Cluster.
type SecretKeyReference struct {
	// name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// key within the Secret; default is value.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ControlPlaneType says who runs the control plane.
// +kubebuilder:validation:Enum=Hosted;External
type ControlPlaneType string

const (
	// HostedControlPlane means Deployments in the namespace of the Cluster.
	HostedControlPlane ControlPlaneType = "Hosted"
	// ExternalControlPlane means static pods on control-plane Nodes of the user cluster, as kubeadm, kops and KubeOne
	// make them. They are seen as mirror pods, and an administrator changes them.
	ExternalControlPlane ControlPlaneType = "External"
)

// ControlPlaneChange says who changes the control plane.
// +kubebuilder:validation:Enum=Apply;Instruct
type ControlPlaneChange string

const (
	// ApplyChange means that the controller changes the Deployments.
	ApplyChange ControlPlaneChange = "Apply"
	// InstructChange means that the controller says in status.instructions what to change, and waits for the proof.
	InstructChange ControlPlaneChange = "Instruct"
)

// ControlPlaneSpec says where the control plane runs, and who changes it.
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'External' || !has(self.change) || self.change != 'Apply'",message="spec.controlPlane.change cannot be Apply when the type is External: static pods can be changed on their Nodes only"
type ControlPlaneSpec struct {
	// type is Hosted, Deployments in the namespace of the Cluster, or External, static pods in namespace kube-system of
	// the user cluster. Default is Hosted.
	// +optional
	Type ControlPlaneType `json:"type,omitempty"`

	// change says who changes the control plane: Apply, the controller does, or Instruct, someone else does what
	// status.instructions says. Default is Apply for Hosted; External is always Instruct.
	// +optional
	Change ControlPlaneChange `json:"change,omitempty"`

	// kubeControllerManager is the Deployment of kube-controller-manager; default name and container are
	// kube-controller-manager. When the type is External, only the container counts.
	// +optional
	KubeControllerManager DeploymentReference `json:"kubeControllerManager,omitempty,omitzero"`

	// kubeAPIServer is the Deployment of kube-apiserver, and who owns it. When unset, it is looked for and never changed, and
	// the migration stops when one is found that has in-tree flags. It may be set after the start.
	// +optional
	KubeAPIServer *ControlPlaneComponent `json:"kubeAPIServer,omitempty"`

	// kubeScheduler is the Deployment of kube-scheduler, and who owns it; as kubeAPIServer.
	// +optional
	KubeScheduler *ControlPlaneComponent `json:"kubeScheduler,omitempty"`
}

// DeploymentReference names a Deployment and the container in it.
type DeploymentReference struct {
	// name of the Deployment.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// container within the Deployment's pod template.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`
}

// MachineControllerLocation says in which cluster the machine-controller's Deployments are.
// +kubebuilder:validation:Enum=Management;UserCluster
type MachineControllerLocation string

const (
	// ManagementLocation means the namespace of the Cluster in the management cluster.
	ManagementLocation MachineControllerLocation = "Management"
	// UserClusterLocation means a namespace of the user cluster.
	UserClusterLocation MachineControllerLocation = "UserCluster"
)

// MachineControllerSpec says where the machine-controller runs. Its three Deployments decide together what kubelet a new
// Machine gets, so each has to be found where the cluster has Machines.
type MachineControllerSpec struct {
	// location of those Deployments that give none of their own: Management (default) or UserCluster.
	// +optional
	Location MachineControllerLocation `json:"location,omitempty"`

	// namespace in the user cluster of those Deployments that give none of their own; default is kube-system. In the
	// management cluster it is always the namespace of the Cluster, because a Cluster must not reach into the namespaces
	// of others.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// machineController is the Deployment of the machine-controller; default name machine-controller.
	// +optional
	MachineController LocatedDeployment `json:"machineController,omitempty,omitzero"`

	// webhook is the Deployment of its webhook; default name machine-controller-webhook.
	// +optional
	Webhook LocatedDeployment `json:"webhook,omitempty,omitzero"`

	// operatingSystemManager is the Deployment of the operating-system-manager; default name operating-system-manager.
	// +optional
	OperatingSystemManager OperatingSystemManagerSpec `json:"operatingSystemManager,omitempty,omitzero"`
}

// LocatedDeployment names a Deployment, the container in it, and the cluster that it is in.
type LocatedDeployment struct {
	DeploymentReference `json:",inline"`

	// location is Management or UserCluster; default is spec.machineController.location.
	// +optional
	Location MachineControllerLocation `json:"location,omitempty"`

	// namespace in the user cluster; default is spec.machineController.namespace.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// OperatingSystemManagerMode says whether a cluster has an operating-system-manager.
// +kubebuilder:validation:Enum=Required;None
type OperatingSystemManagerMode string

const (
	// OperatingSystemManagerRequired means that it writes the configuration which kubelets start with.
	OperatingSystemManagerRequired OperatingSystemManagerMode = "Required"
	// OperatingSystemManagerNone means that the machine-controller itself writes it, as old releases do.
	OperatingSystemManagerNone OperatingSystemManagerMode = "None"
)

// OperatingSystemManagerSpec says where the operating-system-manager runs, or that there is none.
// +kubebuilder:validation:XValidation:rule="!has(self.mode) || self.mode != 'None' || !has(self.name)",message="operatingSystemManager.name cannot be set when its mode is None: remove the name, or the mode"
type OperatingSystemManagerSpec struct {
	LocatedDeployment `json:",inline"`

	// mode is Required, or None when the cluster has no operating-system-manager. Default is Required: without it, and
	// unseen, kubelets would go on to join in-tree whatever their Machines say.
	// +optional
	Mode OperatingSystemManagerMode `json:"mode,omitempty"`
}

// AdoptionPolicy says what happens to addon objects that exist already and are not ours.
// +kubebuilder:validation:Enum=Never;Adopt
type AdoptionPolicy string

const (
	// NeverAdopt blocks with the names of the objects.
	NeverAdopt AdoptionPolicy = "Never"
	// Adopt takes them over.
	Adopt AdoptionPolicy = "Adopt"
)

// AddonManagement says who applies the CCM and the CSI driver of a finished cluster.
// +kubebuilder:validation:Enum=Managed;Released
type AddonManagement string

const (
	// ManagedAddons means that they are applied, and repaired when they differ.
	ManagedAddons AddonManagement = "Managed"
	// ReleasedAddons means that they are neither applied nor repaired: another tool has taken them over.
	ReleasedAddons AddonManagement = "Released"
)

// AddonsSpec says how the CCM and the CSI driver are applied.
type AddonsSpec struct {
	// management of the CCM and the CSI driver once the migration is finished. Default is Managed. Released leaves them to another
	// tool, such as Helm or GitOps: they are neither applied nor repaired. A migration that runs needs Managed.
	// +optional
	Management AddonManagement `json:"management,omitempty"`
	// adoption of addon objects that exist already and are not in our inventory. Default is Never.
	// +optional
	Adoption AdoptionPolicy `json:"adoption,omitempty"`
}

// CEL rules that compare with the old object sit on the root: field rules are skipped when a field is removed. They
// compare self.spec with oldSelf.spec only, so that no status write can ever be refused by them.

// Cluster is a user cluster, and how it is to be migrated to the external cloud provider.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=uc,scope=Namespaced,categories=all
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Step",type="string",JSONPath=`.status.step`
// +kubebuilder:printcolumn:name="Attended",type="string",JSONPath=`.status.conditions[?(@.type=="CloudLoopsAttended")].status`,description="Whether a manager runs the cloud loops"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=`.status.conditions[?(@.type=="Paused")].status`
// +kubebuilder:printcolumn:name="Provider",type="string",JSONPath=`.spec.cloud.providerName`
// +kubebuilder:printcolumn:name="Machines",type="string",JSONPath=`.status.machines.summary`,description="Machines up-to-date/total"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="ReadyToMigrate",type="string",priority=1,JSONPath=`.status.conditions[?(@.type=="ReadyToMigrate")].status`,description="While the feature is off: whether nothing blocks a migration"
// +kubebuilder:printcolumn:name="Blocking",type="integer",priority=1,JSONPath=`.status.preflight.blocking`,description="Findings that block a migration"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.spec.features) && has(oldSelf.spec.features.externalCloudProvider) && oldSelf.spec.features.externalCloudProvider) || (has(self.spec.features) && has(self.spec.features.externalCloudProvider) && self.spec.features.externalCloudProvider)",message="spec.features.externalCloudProvider cannot be disabled once it is enabled. To go back: spec.handover.rollback: true. To stop: spec.paused: true."
// +kubebuilder:validation:XValidation:rule="self.spec.cloud.providerName == oldSelf.spec.cloud.providerName",message="spec.cloud.providerName is immutable"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.spec.cloud.clusterName) || (has(self.spec.cloud.clusterName) && self.spec.cloud.clusterName == oldSelf.spec.cloud.clusterName)",message="spec.cloud.clusterName is immutable once it is set: load balancer names derive from it"
// +kubebuilder:validation:XValidation:rule="!(has(oldSelf.spec.features) && has(oldSelf.spec.features.externalCloudProvider) && oldSelf.spec.features.externalCloudProvider) || (has(self.spec.cloud.controllerManager) && has(self.spec.cloud.controllerManager.placement) ? self.spec.cloud.controllerManager.placement : 'UserCluster') == (has(oldSelf.spec.cloud.controllerManager) && has(oldSelf.spec.cloud.controllerManager.placement) ? oldSelf.spec.cloud.controllerManager.placement : 'UserCluster')",message="spec.cloud.controllerManager.placement is immutable once spec.features.externalCloudProvider is enabled"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.handover) || !has(oldSelf.status.handover.startedAt) || (has(oldSelf.spec.controlPlane) ? has(self.spec.controlPlane) && has(self.spec.controlPlane.type) == has(oldSelf.spec.controlPlane.type) && (!has(oldSelf.spec.controlPlane.type) || self.spec.controlPlane.type == oldSelf.spec.controlPlane.type) && has(self.spec.controlPlane.change) == has(oldSelf.spec.controlPlane.change) && (!has(oldSelf.spec.controlPlane.change) || self.spec.controlPlane.change == oldSelf.spec.controlPlane.change) && has(self.spec.controlPlane.kubeControllerManager) == has(oldSelf.spec.controlPlane.kubeControllerManager) && (!has(oldSelf.spec.controlPlane.kubeControllerManager) || self.spec.controlPlane.kubeControllerManager == oldSelf.spec.controlPlane.kubeControllerManager) && (!has(oldSelf.spec.controlPlane.kubeAPIServer) || has(self.spec.controlPlane.kubeAPIServer) && self.spec.controlPlane.kubeAPIServer == oldSelf.spec.controlPlane.kubeAPIServer) && (!has(oldSelf.spec.controlPlane.kubeScheduler) || has(self.spec.controlPlane.kubeScheduler) && self.spec.controlPlane.kubeScheduler == oldSelf.spec.controlPlane.kubeScheduler) : !has(self.spec.controlPlane) || !has(self.spec.controlPlane.type) && !has(self.spec.controlPlane.change) && !has(self.spec.controlPlane.kubeControllerManager))",message="spec.controlPlane is immutable once the hand-over started; only kubeAPIServer and kubeScheduler may be set where they were unset"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startedAt) || (has(self.spec.handover) && has(self.spec.handover.protocol) ? self.spec.handover.protocol : 'Auto') == (has(oldSelf.spec.handover) && has(oldSelf.spec.handover.protocol) ? oldSelf.spec.handover.protocol : 'Auto')",message="spec.handover.protocol is immutable once the migration started"
// +kubebuilder:validation:XValidation:rule="self.spec.version == oldSelf.spec.version || !has(oldSelf.status) || !has(oldSelf.status.startedAt) || (has(oldSelf.status.conditions) && oldSelf.status.conditions.exists(c, c.type == 'InTreeConfigurationRemoved' && c.status == 'True')) || (has(oldSelf.status.handover) && has(oldSelf.status.handover.upgradeAllowedTo) && !has(oldSelf.status.handover.workloadAllowedAt) && !has(oldSelf.status.rollback) && self.spec.version.matches('^v?' + oldSelf.status.handover.upgradeAllowedTo + '[.]'))",message="spec.version may not change while the migration runs: wait for condition InTreeConfigurationRemoved. With spec.handover.leaderMigration: AcrossMinors it may change to status.handover.upgradeAllowedTo, once that is there"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.status) || !has(oldSelf.status.startedAt) || (has(self.spec.handover) && has(self.spec.handover.leaderMigration) ? self.spec.handover.leaderMigration : 'SameMinor') == (has(oldSelf.spec.handover) && has(oldSelf.spec.handover.leaderMigration) ? oldSelf.spec.handover.leaderMigration : 'SameMinor')",message="spec.handover.leaderMigration is immutable once the migration started"
// +kubebuilder:validation:XValidation:rule="!(has(self.spec.handover) && has(self.spec.handover.rollback) && self.spec.handover.rollback) || (has(oldSelf.spec.handover) && has(oldSelf.spec.handover.rollback) && oldSelf.spec.handover.rollback) || !has(oldSelf.status) || !has(oldSelf.status.pointOfNoReturnAt)",message="spec.handover.rollback is refused: the point of no return was passed",messageExpression="'spec.handover.rollback is refused: the point of no return was passed, status.pointOfNoReturnAt says when. ' + (has(oldSelf.status.handover) && has(oldSelf.status.handover.pointOfNoReturn) && has(oldSelf.status.handover.pointOfNoReturn.reason) ? oldSelf.status.handover.pointOfNoReturn.reason : 'See its conditions.')"
// +kubebuilder:validation:XValidation:rule="!(has(self.spec.handover) && has(self.spec.handover.rollback) && self.spec.handover.rollback) || (has(oldSelf.spec.handover) && has(oldSelf.spec.handover.rollback) && oldSelf.spec.handover.rollback) || !has(oldSelf.status) || !has(oldSelf.status.origin) || oldSelf.status.origin != 'External'",message="spec.handover.rollback is refused: the cluster was created with the external cloud provider"
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is wanted.
	// +required
	Spec ClusterSpec `json:"spec,omitzero"`

	// status says what is.
	// +optional
	Status ClusterStatus `json:"status,omitempty,omitzero"`
}

// ClusterList is a list of Clusters.
//
// +kubebuilder:object:root=true
type ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items of the list.
	Items []Cluster `json:"items"`
}

// ExternalCloudProvider says whether the feature is on.
func (c *Cluster) ExternalCloudProvider() bool {
	return c.Spec.Features.ExternalCloudProvider != nil && *c.Spec.Features.ExternalCloudProvider
}

// AddonsReleased says that another tool applies the CCM and the CSI driver.
func (c *Cluster) AddonsReleased() bool {
	return c.Spec.Addons.Management == ReleasedAddons
}

// CCMInControlPlane says that the cloud-controller-manager runs in the namespace of the Cluster.
func (c *Cluster) CCMInControlPlane() bool {
	return c.Spec.Cloud.ControllerManager.Placement == BesideControlPlane
}

// Static says that the control plane is made of static pods in the user cluster.
func (s *ControlPlaneSpec) Static() bool { return s.Type == ExternalControlPlane }

// Instructed says that someone else changes the control plane, and the controller says what.
func (s *ControlPlaneSpec) Instructed() bool { return s.Static() || s.Change == InstructChange }
