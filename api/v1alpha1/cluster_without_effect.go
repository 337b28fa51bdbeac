package v1alpha1

// FieldWithoutEffect is a field of a spec that asks for what does not happen.
// +kubebuilder:object:generate=false
type FieldWithoutEffect struct {
	// Message names it and says why, Action what to do instead.
	Message, Action string
}

// FieldsWithoutEffect are those that a person counts on in vain. The webhook warns of a write that brings one; it may be away, so
// preflight finds them again.
func (c *Cluster) FieldsWithoutEffect() []FieldWithoutEffect {
	var fields []FieldWithoutEffect
	if c.Spec.Handover.Rollback && !c.ExternalCloudProvider() {
		fields = append(fields, FieldWithoutEffect{
			Message: "spec.handover.rollback has no effect while spec.features.externalCloudProvider is off: there is nothing to " +
				"roll back.",
			Action: "Take it out, or it keeps the migration from starting once the feature is on.",
		})
	}
	if c.Status.StartedAt == nil {
		return fields
	}
	// With a digest in it, the mode has had its effect: the migration started with the plan that was approved.
	if c.Spec.Mode == PlanOnlyMode && c.Spec.Approval.PlanDigest == "" {
		fields = append(fields, FieldWithoutEffect{
			Message: "spec.mode PlanOnly has no effect on a migration that has started.",
			Action:  "To stop it, set spec.paused: true; to go back, set spec.handover.rollback: true.",
		})
	}
	if inherited, wanted := c.Status.Inherited, c.Spec.Cloud.ClusterName; inherited != nil && wanted != "" &&
		wanted != inherited.ClusterName {
		fields = append(fields, FieldWithoutEffect{
			Message: "spec.cloud.clusterName " + wanted +
				" has no effect on a migration that has started: the CCM keeps the name in status.inherited.",
			Action: "Set it to " + inherited.ClusterName +
				": after a rollback, another name than that of kube-controller-manager can block the next start.",
		})
	}
	return fields
}
