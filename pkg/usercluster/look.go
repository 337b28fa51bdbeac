package usercluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// lookTimeout is what an API server has for its first answer to a look: whoever looks waits for it.
const lookTimeout = 5 * time.Second

// Look opens a session for one look, which whoever asked for it closes. It is none of the wanted clusters: nothing probes it
// again, watches it, or wakes for it. There is no session when the user cluster does not answer; the connection says why.
func (r *Registry) Look(ctx context.Context, cluster *ucv1.Cluster) (*Session, observation.Connection) {
	source, secret := sourceOf(cluster), &corev1.Secret{}
	if err := r.options.SecretReader.Get(ctx, source.name, secret); err != nil && !apierrors.IsNotFound(err) {
		return nil, observation.Connection{Reason: ucv1.UnreachableReason, Message: source.String() + " cannot be read: " + err.Error()}
	}
	data := secret.Data[source.key]
	if len(data) == 0 {
		return nil, observation.Connection{Reason: ucv1.KubeconfigMissingReason, Message: source.missing()}
	}
	session, err := open(data, client.ObjectKeyFromObject(cluster), r.options, r.mapper, func() {})
	if err != nil {
		reason, message := source.unusable(err)
		return nil, observation.Connection{Refused: true, Reason: reason, Message: message}
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := session.probe(ctx); err != nil {
		session.close()
		return nil, source.failed(err)
	}
	return session, observation.Connection{Reachable: true, Reason: ucv1.ReachableReason, Message: "The API server of the user " +
		"cluster answers"}
}

// Close ends a session that Look opened, and says how many requests it took.
func (s *Session) Close() (requests int64) {
	s.close()
	if s.network == nil {
		return 0
	}
	return s.network.bounds.requests.Load()
}
