package cluster

import (
	"context"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const notShown = "The API server refused the texts of this status; the controller's log has them."

// isRefused says that the same status would be refused again. One that does not fit the definition of the Cluster in the API
// server is an internal error there:
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/staging/src/k8s.io/apimachinery/pkg/util/managedfields/internal/structuredmerge.go
func isRefused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed to create typed patch object")
}

// reportRefused writes what can be written: the status without texts for people, else the last one, which no longer says that
// all is well. Otherwise that would stay, whatever happens to the cluster.
func (r *Reconciler) reportRefused(ctx context.Context, s *scope, after ucv1.ClusterStatus, refusal error) error {
	log.FromContext(ctx).Error(refusal, "The API server refused the status", "conditions", after.Conditions)
	bare := *after.DeepCopy()
	withoutMessages(&bare)
	err := r.applyStatus(ctx, s.cluster, bare)
	if err == nil {
		r.tell(s, s.cluster.Status, bare)
		return nil
	}
	r.untold.keep(client.ObjectKeyFromObject(s.cluster), verbsOf(entriesOf(s, after)))
	if !isRefused(err) {
		return client.IgnoreNotFound(err)
	}
	if err := r.interrupt(ctx, s, ucv1.StatusRefusedReason, "The API server refuses the status of this Cluster, and the controller's log says why. "+
		"Apply the CustomResourceDefinitions of the controller's own version: an older one does not know all fields."); err != nil {
		return err
	}
	return refusal
}

// withoutMessages leaves nothing in a status that is there for people to read only.
func withoutMessages(status *ucv1.ClusterStatus) {
	eachText(reflect.ValueOf(status), "", func(field, text string) string {
		if field == "Message" && text != "" {
			return notShown
		}
		return text
	})
}
