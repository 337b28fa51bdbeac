package providerprofile

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// maxMessage bounds a condition's message: a profile may have a problem for each of its hundreds of entries, and a person
// reads fewer.
const maxMessage = 1024

// statusOf is the whole intent. A profile that is not used is judged too, so that one can be prepared under another name.
func statusOf(profile *ucv1.ProviderProfile, problems []string, now time.Time) ucv1.ProviderProfileStatus {
	var reason, message string
	ready, name := metav1.ConditionFalse, profile.Spec.ProviderName
	switch {
	case len(problems) > 0:
		reason, message = ucv1.ProfileInvalidReason, "Nothing of it is applied: "+strings.Join(problems, " ")
	case !profile.Used():
		reason = ucv1.ProfileNotUsedReason
		message = fmt.Sprintf(
			"It has no problems, but of the profiles of a provider that one is used which has its name: name it %s.",
			name,
		)
	default:
		ready, reason = metav1.ConditionTrue, ucv1.ProfileAppliedReason
		message = fmt.Sprintf("It is laid over what is applied to the Clusters of provider %s.", name)
	}
	conditions := []metav1.Condition{
		{Type: ucv1.ReadyCondition, Status: ready, Reason: reason, Message: wording.Bounded(message, maxMessage)},
	}
	if ready == metav1.ConditionFalse {
		stalled := conditions[0]
		stalled.Type, stalled.Status = ucv1.StalledCondition, metav1.ConditionTrue
		conditions = append(conditions, stalled)
	}
	for i := range conditions {
		conditions[i].ObservedGeneration, conditions[i].LastTransitionTime = profile.Generation, metav1.NewTime(now)
		if old := meta.FindStatusCondition(
			profile.Status.Conditions,
			conditions[i].Type,
		); old != nil &&
			old.Status == conditions[i].Status {
			conditions[i].LastTransitionTime = old.LastTransitionTime
		}
	}
	return ucv1.ProviderProfileStatus{ObservedGeneration: profile.Generation, Conditions: conditions}
}
