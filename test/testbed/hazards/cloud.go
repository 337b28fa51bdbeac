package hazards

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// What the cloud calls the load balancers.
const (
	keptBalancer    = "kubernetes-default-kept"
	leavingBalancer = "kubernetes-default-leaving"
	waitingBalancer = "kubernetes-default-waiting"
)

func cloudGroups() []Group {
	return []Group{
		{
			Name: "services", Options: bed.UserClusterOptions{KCMReplicas: 1}, Pools: map[string]int32{"workers": 1},
			Hazards: []Hazard{
				{
					Name: "A Service whose load balancer is there and fine", ID: "LoadBalancersEnsured", Severity: info,
					Stage: func(ctx context.Context, p *Play) error { return p.served(ctx, "kept") }, Happens: ensured,
				},
				{
					Name:     "A Service that is being deleted and whose load balancer the cloud does not delete",
					ID:       "LoadBalancerDeleting",
					Severity: blocking,
					Objects:  []string{"Service default/leaving"},
					Stage:    leaving,
					Happens:  left,
				},
				{
					Name: "A Service whose load balancer the cloud refuses", ID: "LoadBalancerPending", Severity: warning,
					Objects: []string{"Service default/waiting"},
					Stage: func(ctx context.Context, p *Play) error {
						p.refuseWaiting()
						return p.User.Client.Create(ctx, bed.LoadBalancer("waiting"))
					}, Happens: refused,
				},
			},
		},
		{
			Name: "routes", Options: withoutMachines(), Nodes: []string{"steady"},
			Hazards: []Hazard{
				{
					Name: "Two Nodes with one pod CIDR", ID: "PodCIDROverlap", Severity: blocking, Objects: []string{"Node one", "Node other"},
					Stage: overlap, Happens: overlapping,
				},
				{
					Name:     "A Node whose route the cloud does not take",
					ID:       "NetworkUnavailable",
					Severity: blocking,
					Objects:  []string{"Node other"},
					Happens:  unavailable,
				},
				{
					Name:     "A Node whose pod CIDR is outside of --cluster-cidr",
					ID:       "PodCIDROutside",
					Severity: warning,
					Objects:  []string{"Node outside"},
					Stage:    func(ctx context.Context, p *Play) error { return p.addRoutedNode(ctx, "outside", "10.99.1.0/24") },
					Happens:  outside,
				},
				{
					Name: "A route of someone else's inside of --cluster-cidr", ID: "RoutesUnknown", Severity: warning, NotLookedAt: true,
					Stage: foreignRoute, Happens: foreignRouteDeleted,
				},
			},
		},
	}
}

// served makes a Service and waits for its address.
func (p *Play) served(ctx context.Context, name string) error {
	if err := p.User.Client.Create(ctx, bed.LoadBalancer(name)); err != nil {
		return err
	}
	return p.addressed(ctx, name)
}

func (p *Play) addressed(ctx context.Context, name string) error {
	return p.WaitFor(ctx, "an address of Service "+name, patience, func(ctx context.Context) (string, error) {
		service := &corev1.Service{}
		if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(bed.LoadBalancer(name)), service); err != nil {
			return "", err
		}
		if len(service.Status.LoadBalancer.Ingress) == 0 {
			return "it has none", nil
		}
		return "", nil
	})
}

func ensured(ctx context.Context, p *Play) (string, error) {
	if err := p.handedOver(ctx); err != nil {
		return "", err
	}
	if err := p.untilCalled(ctx, "the CCM to ensure the load balancer", func(call simcloud.Call) bool {
		return call.Object == keptBalancer && call.Method == simcloud.UpdateLoadBalancer
	}); err != nil {
		return "", err
	}
	calls, err := p.calls()
	if slices.ContainsFunc(calls, func(call simcloud.Call) bool {
		return call.Object == keptBalancer && call.Method == simcloud.CreateLoadBalancer
	}) {
		return "", errors.New("it was made again")
	}
	return "The CCM ensured it again when it led, and the load balancer stayed the same one.", err
}

func leaving(ctx context.Context, p *Play) error {
	if err := p.served(ctx, "leaving"); err != nil {
		return err
	}
	p.Cloud.AddFault(simcloud.Fault{
		Cluster:     p.Group.Name,
		Method:      simcloud.EnsureLoadBalancerDeleted,
		Object:      leavingBalancer,
		ErrorStatus: http.StatusServiceUnavailable,
	})
	return p.User.Client.Delete(ctx, bed.LoadBalancer("leaving"))
}

// left looks at the calls for the load balancer: from KCM's last one to the CCM's first one no one deleted it.
func left(ctx context.Context, p *Play) (string, error) {
	if err := p.handedOver(ctx); err != nil {
		return "", err
	}
	deletes := func(call simcloud.Call) bool {
		return call.Object == leavingBalancer && call.Method == simcloud.EnsureLoadBalancerDeleted
	}
	if err := p.untilCalled(ctx, "the CCM to delete the load balancer", deletes); err != nil {
		return "", err
	}
	if err := p.User.Client.Get(ctx, client.ObjectKeyFromObject(bed.LoadBalancer("leaving")), &corev1.Service{}); err != nil {
		return "", fmt.Errorf("it did not hang: %w", err)
	}
	if err := p.inTurn(deletes); err != nil {
		return "", err
	}
	p.Cloud.ClearFaultsOf(p.Group.Name)
	p.refuseWaiting()
	if err := p.untilGone(ctx, bed.LoadBalancer("leaving")); err != nil {
		return "", err
	}
	if len(p.members(leavingBalancer)) > 0 {
		return "", errors.New("the Service is gone and its load balancer is not")
	}
	return "No one tried to delete the load balancer while the loops were handed over. The Service hung until the cloud gave in; " +
		"then the CCM deleted both.", nil
}

// inTurn says that KCM's last call of a kind was before the CCM's first one.
func (p *Play) inTurn(is func(simcloud.Call) bool) error {
	calls, err := p.calls()
	if err != nil {
		return err
	}
	var last, first time.Time
	for _, call := range slices.DeleteFunc(calls, func(call simcloud.Call) bool { return !is(call) }) {
		switch {
		case call.Component == kcmName:
			last = call.Time
		case first.IsZero():
			first = call.Time
		}
	}
	if !last.Before(first) {
		return errors.New("KCM went on with it beside the CCM")
	}
	return nil
}

func (p *Play) refuseWaiting() {
	p.Cloud.AddFault(simcloud.Fault{
		Cluster: p.Group.Name, Method: "EnsureLoadBalancer", Object: waitingBalancer, ErrorStatus: http.StatusForbidden,
	})
}

// refused stands in the way of the roll, and nothing older than the CCM is at fault any more.
func refused(ctx context.Context, p *Play) (string, error) {
	if err := p.untilSaid(ctx, ucv1.PreflightFailedReason, "Service default/waiting", "cannot ensure"); err != nil {
		return "", err
	}
	cluster, err := p.User.Get(ctx)
	if err != nil {
		return "", err
	}
	if cluster.Status.RollGeneration != "" {
		return "", errors.New("its Machines are being replaced")
	}
	p.Cloud.ClearFaultsOf(p.Group.Name)
	if err := p.addressed(ctx, "waiting"); err != nil {
		return "", err
	}
	return "The CCM could not make it either, and before the first Machine was replaced the migration stopped with the finding " +
		"LoadBalancerRefused. When the cloud gave in, the CCM made it, and the roll began.", p.rolls(ctx)
}

const shared = "10.244.100.0/24"

// overlap gives the second Node no route: the cloud has one for a destination.
func overlap(ctx context.Context, p *Play) error {
	if err := p.addRoutedNode(ctx, "one", shared); err != nil {
		return err
	}
	if err := p.untilRoute(ctx, shared, "one"); err != nil {
		return err
	}
	if err := p.addRoutedNode(ctx, "other", shared); err != nil {
		return err
	}
	return p.untilNetwork(ctx, "other", corev1.ConditionTrue)
}

// addRoutedNode registers a Node that someone gave a pod CIDR.
func (p *Play) addRoutedNode(ctx context.Context, name, podCIDR string) error {
	return p.addNode(ctx, name, "simcloud://"+p.Group.Name+"/"+name, nil, podCIDR)
}

// untilRoute waits until the cloud leads a destination to a Node; without a Node, until it leads nowhere.
func (p *Play) untilRoute(ctx context.Context, destination, node string) error {
	return p.WaitFor(ctx, "the route of "+destination, patience, func(context.Context) (string, error) {
		if leads := p.route(destination); leads != node {
			return "it leads to " + leads, nil
		}
		return "", nil
	})
}

func (p *Play) route(destination string) string {
	for _, route := range p.Cloud.Snapshot(p.Group.Name).Routes {
		if route.DestinationCIDR == destination {
			return route.TargetNode
		}
	}
	return ""
}

func (p *Play) untilNetwork(ctx context.Context, name string, status corev1.ConditionStatus) error {
	return p.WaitFor(ctx, "condition NetworkUnavailable of "+name, patience, func(ctx context.Context) (string, error) {
		node, err := p.node(ctx, name)
		if err != nil {
			return "", err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeNetworkUnavailable && condition.Status == status {
				return "", nil
			}
		}
		return "it is not " + string(status), nil
	})
}

func overlapping(ctx context.Context, p *Play) (string, error) {
	if err := p.handedOver(ctx); err != nil {
		return "", err
	}
	err := p.untilCalled(ctx, "the CCM to try the second route", func(call simcloud.Call) bool {
		return call.Method == "CreateRoute" && call.Error != "" && call.Object == "kubernetes-10-244-100-0-24"
	})
	if leads := p.route(shared); err == nil && leads != "one" {
		err = errors.New("the route leads to " + leads)
	}
	return "The cloud has one route for both: what is for pods of the second Node goes to the first one, and the CCM could not " +
		"make another.", err
}

func unavailable(ctx context.Context, p *Play) (string, error) {
	if err := p.untilNetwork(ctx, "other", corev1.ConditionTrue); err != nil {
		return "", err
	}
	if err := p.User.RemoveNode(ctx, "one"); err != nil {
		return "", err
	}
	if err := p.untilRoute(ctx, shared, "other"); err != nil {
		return "", err
	}
	return "The CCM went on failing at the same route as KCM before, and its network stayed unavailable. When the first Node of " +
		"the range was gone, the CCM made the route, and the condition went.", p.untilNetwork(ctx, "other", corev1.ConditionFalse)
}

func outside(ctx context.Context, p *Play) (string, error) {
	const distant = "10.99.1.0/24"
	if err := p.untilRoute(ctx, distant, "outside"); err != nil {
		return "", err
	}
	if err := p.User.RemoveNode(ctx, "outside"); err != nil {
		return "", err
	}
	// The route of another Node that goes later is deleted: the loop has been there.
	if err := p.User.RemoveNode(ctx, "other"); err != nil {
		return "", err
	}
	err := p.untilRoute(ctx, shared, "")
	if leads := p.route(distant); err == nil && leads != "outside" {
		err = errors.New("its route was deleted")
	}
	return "When the Node was gone, the CCM left its route in the cloud, and deleted that of a Node inside of the range.", err
}

const foreignDestination = "10.244.200.0/24"

// foreignRoute is kept from KCM, which would delete it as well.
func foreignRoute(_ context.Context, p *Play) error {
	const name = "kubernetes-someone"
	p.Cloud.AddFault(
		simcloud.Fault{Cluster: p.Group.Name, Method: "DeleteRoute", Object: name, ErrorStatus: http.StatusServiceUnavailable},
	)
	return p.Cloud.AddRoute(
		p.Group.Name,
		simcloud.Route{Name: name, ID: name, TargetNode: "gateway", DestinationCIDR: foreignDestination},
	)
}

func foreignRouteDeleted(ctx context.Context, p *Play) (string, error) {
	if p.route(foreignDestination) == "" {
		return "", errors.New("it is gone already")
	}
	p.Cloud.ClearFaultsOf(p.Group.Name)
	return "The CCM deleted the route, as KCM would have: the cloud had kept it from both until then.", p.untilRoute(
		ctx,
		foreignDestination,
		"",
	)
}
