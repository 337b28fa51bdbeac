package cluster

import ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"

// ConditionsOf are the conditions of a step, for those who show a status. A step of an undo has none of its own.
func ConditionsOf(step ucv1.Step) []string {
	if step == ucv1.StepAddons {
		return []string{ucv1.CSIReadyCondition, ucv1.CloudControllerManagerReadyCondition}
	}
	if condition := conditionsOf()[step]; condition != "" {
		return []string{condition}
	}
	return nil
}
