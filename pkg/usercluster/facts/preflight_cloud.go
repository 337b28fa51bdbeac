package facts

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// The reasons of events that a CCM writes:
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/service/controller.go
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/route/route_controller.go
const (
	serviceFailed  = "SyncLoadBalancerFailed"
	serviceEnsured = "EnsuredLoadBalancer"
	routeFailed    = "FailedToCreateRoute"
	// eventTolerance is how far the clocks of the two clusters may be apart without an event of the CCM being overlooked.
	eventTolerance = time.Minute
	maxComplaint   = 200
)

// Cloud is what the CCM says of the cloud since it leads. An event that a later one of success answers is no complaint any more;
// both are on the clock of the user cluster. Nor is one that outlived its object: events stay for an hour.
func (p *Preflight) Cloud(ctx context.Context, since time.Time) observation.Observed[preflight.Cloud] {
	mark := p.watches.MarkOfUnwatched()
	mark.Most = betweenEvents
	return p.cloud.Read(ctx, p.clock.Now(), mark, func() observation.Observed[preflight.Cloud] { return p.readCloud(ctx, since) })
}

func (p *Preflight) readCloud(ctx context.Context, since time.Time) observation.Observed[preflight.Cloud] {
	latest, err := p.cloudEvents(ctx, since.Add(-eventTolerance))
	if err != nil {
		return observation.Unknown[preflight.Cloud](err.Error())
	}
	served, why := p.served(ctx, len(latest[serviceFailed]) > 0)
	routeless, whyNot := p.routeless(ctx, len(latest[routeFailed]) > 0)
	if why = cmp.Or(why, whyNot); why != "" {
		return observation.Unknown[preflight.Cloud](why)
	}
	cloud := preflight.Cloud{}
	for object, event := range latest[serviceFailed] {
		success, answered := latest[serviceEnsured][object]
		if served[object] && (!answered || eventTime(success).Before(eventTime(event))) {
			cloud.Services = append(cloud.Services, complaint(object, event))
		}
	}
	for object, event := range latest[routeFailed] {
		if routeless[object] {
			cloud.Routes = append(cloud.Routes, complaint(object, event))
		}
	}
	for _, list := range [][]preflight.Complaint{cloud.Services, cloud.Routes} {
		slices.SortFunc(list, func(a, b preflight.Complaint) int { return cmp.Compare(a.Object.String(), b.Object.String()) })
	}
	return observation.Known(cloud)
}

// cloudEvents are the latest events by their reason and object. Where no Service failed, there is nothing that a success could
// answer.
func (p *Preflight) cloudEvents(ctx context.Context, since time.Time) (map[string]map[observation.Ref]corev1.Event, error) {
	latest := map[string]map[observation.Ref]corev1.Event{}
	for _, reason := range []string{routeFailed, serviceFailed, serviceEnsured} {
		if reason == serviceEnsured && len(latest[serviceFailed]) == 0 {
			break
		}
		latest[reason] = map[observation.Ref]corev1.Event{}
		if err := reads.Pages(
			ctx,
			p.client,
			"events "+reason,
			func() *corev1.EventList { return &corev1.EventList{} },
			func(list *corev1.EventList) { addLatest(ctx, latest[reason], list.Items, since) },
			client.MatchingFields{"reason": reason},
		); err != nil {
			return nil, err
		}
	}
	return latest, nil
}

// served are the Services that want a load balancer: one that is being deleted needs no new Nodes. Nothing is read without need.
func (p *Preflight) served(ctx context.Context, needed bool) (served map[observation.Ref]bool, why string) {
	if !needed {
		return nil, ""
	}
	services := p.loadBalancers(ctx)
	served = map[observation.Ref]bool{}
	for _, service := range services.Value() {
		served[observation.Ref{Kind: "Service", Namespace: service.Namespace, Name: service.Name}] = !service.Deleting
	}
	return served, services.Why()
}

// routeless are the Nodes that the route loop says to have no route: it writes that into a condition when it failed, and takes it
// back when it made the route.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/controllers/route/route_controller.go
func (p *Preflight) routeless(ctx context.Context, needed bool) (routeless map[observation.Ref]bool, why string) {
	if !needed {
		return nil, ""
	}
	nodes := p.NodeDetails(ctx)
	routeless = map[observation.Ref]bool{}
	for _, node := range nodes.Value() {
		routeless[observation.NodeRef(node.Name)] = node.NetworkUnavailable
	}
	return routeless, nodes.Why()
}

func complaint(object observation.Ref, event corev1.Event) preflight.Complaint {
	// What was cut in the middle of a character would be stored as another text than it is computed as, in every pass again.
	return preflight.Complaint{
		Object:  object,
		Message: strings.ToValidUTF8(event.Message[:min(len(event.Message), maxComplaint)], ""),
	}
}

// addLatest keeps the newest event of each object.
func addLatest(ctx context.Context, latest map[observation.Ref]corev1.Event, events []corev1.Event, since time.Time) {
	for _, event := range events {
		object := observation.Ref{
			Kind:      event.InvolvedObject.Kind,
			Namespace: event.InvolvedObject.Namespace,
			Name:      event.InvolvedObject.Name,
		}
		if known, found := latest[object]; eventTime(event).Before(since) || found && eventTime(event).Before(eventTime(known)) {
			continue
		}
		event.Message = strings.Clone(event.Message[:min(len(event.Message), maxComplaint)])
		latest[reads.Keep(ctx, object)] = reads.Keep(ctx, corev1.Event{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: event.CreationTimestamp}, Message: event.Message,
			LastTimestamp: event.LastTimestamp, EventTime: event.EventTime, Series: event.Series,
		})
	}
}

func eventTime(event corev1.Event) time.Time {
	times := []time.Time{event.LastTimestamp.Time, event.EventTime.Time, event.CreationTimestamp.Time}
	if event.Series != nil {
		times = append(times, event.Series.LastObservedTime.Time)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}
