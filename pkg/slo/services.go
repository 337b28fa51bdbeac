package slo

import "time"

// Waits says that the events of Services are worth another look: a load balancer is to be updated, or there was none for a
// while.
func (w *Watcher) Waits(now time.Time) bool {
	const seldom = time.Minute
	return len(w.waiting) > 0 || now.Sub(w.eventsAt) >= seldom
}

// CannotLook is a look at the events of Services that failed: what lies in it is never counted.
func (w *Watcher) CannotLook() {
	w.events, w.waiting, w.change, w.unsure, w.failed = nil, nil, moment{}, false, false
	w.eventsSince, w.eventsAt = time.Time{}, time.Time{}
}

// Services takes a look at the Services of type LoadBalancer and their events.
func (w *Watcher) Services(now time.Time, services []ServiceState) {
	now = now.Truncate(time.Microsecond)
	seen := make(map[string]ServiceState, len(services))
	w.balancers = len(services)
	for _, service := range services {
		before, known := w.events[service.UID]
		seen[service.UID] = service
		if !known {
			continue // What came before the first look belongs to another time.
		}
		if service.Failures > before.Failures {
			sample := Sample{Indicator: SyncErrors, After: w.eventsAt, End: now}
			w.add(sample.about("Service", service.Namespace, service.Name))
			w.refused(service.UID)
		}
		w.answered(now, service, service.Updates > before.Updates)
	}
	for uid := range w.waiting {
		if _, there := seen[uid]; !there {
			delete(w.waiting, uid)
		}
	}
	if len(w.waiting) == 0 && !w.change.by.IsZero() {
		w.settled(now, len(services))
	}
	w.events, w.eventsAt = seen, now
	if w.eventsSince.IsZero() {
		w.eventsSince = now
	}
}

func (w *Watcher) refused(uid string) {
	if since, waits := w.waiting[uid]; waits {
		since.failed, w.failed = true, true
		w.waiting[uid] = since
	}
}

// answered makes the sample of one load balancer. The update may have begun before the Node came: events do not say for which
// Nodes it was. Nor does an event that is late say that the update was, unless one failed before: recorders drop events.
// https://github.com/kubernetes/client-go/blob/v0.30.14/tools/record/events_cache.go (EventSourceObjectSpamFilter)
func (w *Watcher) answered(now time.Time, service ServiceState, updated bool) {
	since, waits := w.waiting[service.UID]
	if !waits {
		return
	}
	sample := Sample{Indicator: HostUpdate, End: now, Most: -1}.about("Service", service.Namespace, service.Name)
	switch {
	case updated:
		sample.Least, sample.Most = between(since.moment, w.eventsAt, now, since.failed)
	case now.Sub(since.by) < patience:
		return
	case since.failed:
		sample.Least = now.Sub(since.by)
	default:
		w.unsure = true
	}
	w.add(sample)
	delete(w.waiting, service.UID)
}

// settled makes the sample of the sync of all load balancers.
func (w *Watcher) settled(now time.Time, services int) {
	sample := Sample{Indicator: NodeSync, Object: "all load balancers", End: now, Most: -1}
	if !w.unsure {
		sample.Least, sample.Most = between(w.change, w.eventsAt, now, w.failed)
	}
	if services > 0 {
		w.add(sample)
	}
	w.change, w.unsure, w.failed = moment{}, false, false
}

// between is how long it was from a moment until one that lies between two looks; nothing is the least unless that is sure.
func between(since moment, before, now time.Time, sure bool) (least, most time.Duration) {
	most = -1
	if sure {
		least = max(before.Sub(since.by), 0)
	}
	if !since.after.IsZero() {
		most = now.Sub(since.after)
	}
	return least, most
}
