package v1alpha1

// The names below are promises of the KKP manual for the CCM/CSI migration; tools of operators depend on them.
const (
	// CCMMigrationNeededAnnotation is put on a Cluster when the feature is switched on; its value is always "".
	CCMMigrationNeededAnnotation = "ccm-migration.k8c.io/migration-needed"
	// CSIMigrationNeededAnnotation is put on a Cluster when the feature is switched on; its value is always "".
	CSIMigrationNeededAnnotation = "csi-migration.k8c.io/migration-needed"

	// ExternalCloudProviderAnnotation is stamped on every Machine by the machine-controller's webhook, from its own
	// flag. Alone it proves nothing about the kubelet.
	ExternalCloudProviderAnnotation = "v1.kubelet-flags.machine-controller.kubermatic.io/ExternalCloudProvider"
	// ForceRestartAnnotation in the template metadata of a MachineDeployment makes a new revision.
	ForceRestartAnnotation = "forceRestart"

	// ClusterFinalizer keeps a Cluster until the hand-over is at a row where leaving is safe.
	ClusterFinalizer = "usercluster.k8c.io/cluster"
	// AbandonAnnotation with the value "true" on a Cluster that is being deleted lets it go at once, whatever that leaves behind.
	AbandonAnnotation = "usercluster.k8c.io/abandon"
	// TouchedAnnotation on KCM's Deployment has whoever reconciles it do so; its value is the time.
	TouchedAnnotation = "usercluster.k8c.io/touched-at"

	// CloudConfigLabel with the value "true" on a Secret says that it is a cloud configuration, which goes into user clusters.
	CloudConfigLabel = "usercluster.k8c.io/cloud-config"
	// CloudConfigSecretType is the type of a Secret that says the same.
	CloudConfigSecretType = "usercluster.k8c.io/cloud-config"

	// FieldManager owns every field that the controller applies but those of the other managers here. Their names are part of
	// the API: GitOps tools ignore fields by them.
	FieldManager = "ccm-migration-controller"
	// AnnotationsFieldManager owns the two annotations.
	AnnotationsFieldManager = "ccm-migration-controller-annotations"
	// ProofsFieldManager owns the proofs of kubelets in the Secret of the baseline: an apply of one of the two takes the other one
	// not away.
	ProofsFieldManager = "ccm-migration-controller-proofs"
	// TokenFieldManager owns the token of a cloud-controller-manager beside the control plane.
	TokenFieldManager = "ccm-migration-controller-token"
	// DefaultClassFieldManager owns the annotation of StorageClasses that says which one is the default.
	DefaultClassFieldManager = "ccm-migration-controller-default-class"
	// FleetFieldManager owns status.admission of Clusters, and spec.features.externalCloudProvider where a FleetMigration says
	// OnAdmission.
	FleetFieldManager = "ccm-migration-controller-fleet"
)
