package facts

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// deletedEvent is what the service loop says of a Service whose load balancer it deleted, in KCM as in the CCM.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/service/controller.go (syncLoadBalancerIfNeeded)
const (
	deletedEvent     = "DeletedLoadBalancer"
	serviceComponent = "service-controller"
)

// goneMemory keeps what was found of objects that are gone for good, by UID: none is used a second time. The time at which
// one was missed, and events, which expire, are not to be had again.
type goneMemory struct {
	mu    sync.Mutex
	found map[string]observation.Gone
}

// search is how to find what was there of one that is missing.
type search func(context.Context) (observation.Gone, error)

// Gone searches for the Services and claims of what is missing. What was gone once is not looked for again.
func (r *Reader) Gone(ctx context.Context, missing baseline.Missing) observation.Observed[map[string]observation.Gone] {
	var uids []string
	var searches []search
	for _, balancer := range missing.LoadBalancers {
		uids, searches = append(uids, balancer.UID), append(searches, func(ctx context.Context) (observation.Gone, error) {
			return r.goneService(ctx, balancer)
		})
	}
	for _, volume := range missing.Volumes {
		uids, searches = append(uids, volume.UID), append(searches, func(ctx context.Context) (observation.Gone, error) {
			return r.goneClaim(ctx, volume)
		})
	}
	seen := make([]observation.Gone, len(searches))
	err := reads.Concurrently(ctx, len(searches), func(ctx context.Context, i int) (err error) {
		seen[i], err = r.gone.recall(ctx, uids[i], searches[i])
		return err
	})
	if err != nil {
		return observation.Unknown[map[string]observation.Gone](err.Error())
	}
	found := make(map[string]observation.Gone, len(seen))
	for i, uid := range uids {
		found[uid] = seen[i]
	}
	return observation.Known(found)
}

func (m *goneMemory) recall(ctx context.Context, uid string, find search) (observation.Gone, error) {
	m.mu.Lock()
	gone, known := m.found[uid]
	m.mu.Unlock()
	if known {
		return gone, nil
	}
	gone, err := find(ctx)
	if err == nil && gone.Left == "" {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.found == nil {
			m.found = map[string]observation.Gone{}
		}
		m.found[uid] = gone
	}
	return gone, err
}

// goneService: one of the same name with another UID was made afterwards.
func (r *Reader) goneService(ctx context.Context, balancer observation.LoadBalancer) (observation.Gone, error) {
	service := &corev1.Service{}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: balancer.Namespace, Name: balancer.Name}, service)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return observation.Gone{}, reads.Unseen(reads.Because("reading Service "+balancer.Namespace+"/"+balancer.Name, err))
	case err == nil && string(service.UID) == balancer.UID:
		return observation.Gone{Left: fmt.Sprintf("has type %s and no load balancer any more", service.Spec.Type)}, nil
	}
	return observation.Gone{Seen: r.goneBy() + r.deletedBy(ctx, balancer)}, nil
}

// deletedBy is a hint for a person: events that cannot be listed, or have expired, say nothing.
func (r *Reader) deletedBy(ctx context.Context, balancer observation.LoadBalancer) (by string) {
	only := client.MatchingFields{"involvedObject.kind": "Service", "reason": deletedEvent}
	empty := func() *corev1.EventList { return &corev1.EventList{} }
	_ = reads.Pages(ctx, r.client, "events of Services", empty, func(list *corev1.EventList) {
		for i := range list.Items {
			event := &list.Items[i]
			about := string(event.InvolvedObject.UID) == balancer.UID && event.Reason == deletedEvent
			if about && event.Source.Component == serviceComponent {
				by = ", and " + serviceComponent + " deleted its load balancer at " + event.LastTimestamp.UTC().Format(time.RFC3339)
			}
		}
	}, only, client.InNamespace(balancer.Namespace))
	return by
}

// goneClaim: what a claim is bound to never changes, so one of the same name with another volume was made afterwards.
// https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/apis/core/validation/validation.go#L2541
func (r *Reader) goneClaim(ctx context.Context, volume observation.Volume) (observation.Gone, error) {
	if volume.Claim == "" {
		return observation.Gone{Seen: r.goneBy() + ", and it had no claim"}, nil
	}
	namespace, name, _ := strings.Cut(volume.Claim, "/")
	claim := &corev1.PersistentVolumeClaim{}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, claim)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return observation.Gone{}, reads.Unseen(reads.Because("reading PersistentVolumeClaim "+volume.Claim, err))
	case err == nil && claim.Spec.VolumeName == volume.Name:
		return observation.Gone{Left: "is gone, and its claim " + volume.Claim + " is still there"}, nil
	}
	return observation.Gone{Seen: r.goneBy() + " with its claim " + volume.Claim}, nil
}

func (r *Reader) goneBy() string {
	return "it was gone by " + r.clock.Now().UTC().Format(time.RFC3339)
}
