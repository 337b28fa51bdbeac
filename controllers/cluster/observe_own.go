package cluster

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// ownObjects are what was read of the Secrets and ConfigMaps that only we write, in the management cluster. They may not be
// watched there, so that what someone else does to them is seen a little later.
type ownObjects struct {
	keeps bool

	mu   sync.Mutex
	read map[client.ObjectKey]*ownReads
}

// ownReads are those of one Cluster: its record, the baseline with the proofs, and the inventory. The cloud configuration is
// someone else's.
type ownReads struct {
	record, baseline, cloudConfig kept.Value[corev1.Secret]
	inventory                     kept.Value[corev1.ConfigMap]
}

// mostForeign is how late we see that someone corrected a cloud configuration, at most.
const mostForeign = 5 * time.Second

func (o *ownObjects) of(cluster client.Object) *ownReads {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := client.ObjectKeyFromObject(cluster)
	if o.read == nil {
		o.read = map[client.ObjectKey]*ownReads{}
	}
	if o.read[key] == nil {
		o.read[key] = &ownReads{}
	}
	return o.read[key]
}

func (o *ownObjects) forget(key client.ObjectKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.read, key)
}

// readOwn reads an object, unless it was read a moment ago.
func readOwn[T any, P interface {
	*T
	client.Object
}](
	ctx context.Context, m *managementObserver, now time.Time, value *kept.Value[T], key client.ObjectKey, most time.Duration,
) observation.Observed[T] {
	return value.Read(ctx, now, m.own.mark(most), func() observation.Observed[T] {
		object := P(new(T))
		switch err := m.live.Get(ctx, key, object); {
		case apierrors.IsNotFound(err):
			return observation.Absent[T]()
		case err != nil:
			return observation.Unknown[T](err.Error())
		}
		return observation.Known(*object)
	})
}

// put keeps what was written.
func (o *ownObjects) put(value *kept.Value[corev1.Secret], now time.Time, secret corev1.Secret) {
	value.Put(now, o.mark(kept.MostAge), observation.Known(secret))
}

func (o *ownObjects) mark(most time.Duration) kept.Mark {
	return kept.Mark{Watched: o.keeps, Most: most}
}

// changed forgets what an action may have changed in the management cluster. In the user cluster each request tells that itself.
func (o *Observer) changed(s *scope, action outcome.Action) {
	switch action.Kind {
	case outcome.ActionTakeBaseline:
		o.management.own.forget(client.ObjectKeyFromObject(s.Cluster))
	case outcome.ActionApplyAddons, outcome.ActionPruneAddons:
		o.management.own.forget(client.ObjectKeyFromObject(s.Cluster))
		o.controlPlane.Changes.Seen(s.Cluster.Namespace)
	case outcome.ActionChangeArguments, outcome.ActionKeepLeader, outcome.ActionTouch:
		o.controlPlane.Changes.Seen(s.Cluster.Namespace)
	default:
	}
}
