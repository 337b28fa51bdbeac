package handover

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	// pace of the load, and in the time around the gap: changes have to fall into it.
	pace    = time.Second
	gapPace = 300 * time.Millisecond
	// mostNodes is how many Nodes the load has at once: each of them costs a process of the CSI driver. nodePace is how often
	// one comes or goes. A hand-over does not begin as long as a Node has no CSI driver yet, so that is less often before.
	mostNodes    = 2
	nodePace     = 15 * time.Second
	gapNodePace  = 2 * time.Second
	mostServices = 8
)

// load is the driver: people and machines that go on working while the cluster is handed over.
type load struct {
	play     *Play
	serial   int
	services []string
	nodes    []string
	nodeAt   time.Time
}

func newLoad(p *Play) *load { return &load{play: p} }

func (l *load) user() *bed.UserCluster { return l.play.User }

// prepare makes what is there before: Nodes for the CCM, load balancers that must be kept, and Nodes that will die.
func (l *load) prepare(ctx context.Context) error {
	for _, name := range []string{"base-0", "base-1"} {
		if err := l.user().AddNode(ctx, name, false); err != nil {
			return err
		}
	}
	for _, name := range []string{"early-victim", "late-victim"} {
		if err := l.user().AddNode(ctx, name, true); err != nil {
			return err
		}
	}
	for _, name := range []string{"keep-0", "keep-1"} {
		if err := l.createService(ctx, name); err != nil {
			return err
		}
	}
	return l.play.WaitFor(
		ctx,
		"the load of "+l.play.Scenario.Name+" to be served",
		patience,
		func(ctx context.Context) (string, error) {
			state, err := l.play.state(ctx)
			if err != nil {
				return "", err
			}
			for _, lost := range unserved(state) {
				return lost, nil
			}
			return l.unready(ctx)
		},
	)
}

func (l *load) unready(ctx context.Context) (string, error) {
	nodes := &corev1.NodeList{}
	if err := l.user().Client.List(ctx, nodes); err != nil {
		return "", err
	}
	for i := range nodes.Items {
		ready := slices.ContainsFunc(nodes.Items[i].Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if !ready {
			return "Node " + nodes.Items[i].Name + " is not Ready", nil
		}
	}
	return "", nil
}

// start changes things until the function that it returns is called, which is told what went wrong.
func (l *load) start(ctx context.Context) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() { failed <- l.drive(ctx) }()
	return func() error {
		cancel()
		if err := <-failed; err != nil {
			return err
		}
		return l.kill(context.WithoutCancel(ctx), "late-victim")
	}
}

// drive kills a Node at once: until the Node is gone, KCM is not changed.
func (l *load) drive(ctx context.Context) error {
	err := l.kill(ctx, "early-victim")
	for err == nil && ctx.Err() == nil {
		timer := time.NewTimer(l.pause())
		select {
		case <-ctx.Done():
		case <-timer.C:
			err = l.change(ctx)
		}
		timer.Stop()
	}
	return err
}

// inGap says that one manager has lost the loops and the other one does not run them yet.
func (l *load) inGap() bool {
	status := l.play.witness.latest()
	if rollback := status.Rollback; rollback != nil {
		return rollback.WorkloadWithdrawnAt != nil && rollback.FinishedAt == nil
	}
	handover := status.Handover
	return handover != nil && handover.LoopsOffAt != nil && handover.FinishedAt == nil
}

func (l *load) pause() time.Duration {
	if l.inGap() {
		return gapPace
	}
	return pace/2 + time.Duration(l.play.random.Int64N(int64(pace)))
}

// change does one thing. Nodes come and go as a machine-controller has them: one that dies on its own would keep the
// fence closed, which is a scenario of its own.
func (l *load) change(ctx context.Context) error {
	lot, rest := l.play.random.IntN(10), nodePace
	if l.inGap() {
		rest = gapNodePace
	}
	switch {
	case time.Since(l.nodeAt) > rest:
		l.nodeAt = time.Now()
		return l.changeNodes(ctx, lot < 5)
	case len(l.services) > 0 && (lot < 4 || len(l.services) >= mostServices):
		name := take(&l.services, l.play.random.IntN(len(l.services)))
		return l.do(ctx, ServiceDeleted, name, func(ctx context.Context) error { return l.deleteService(ctx, name) })
	}
	l.serial++
	name := fmt.Sprintf("load-%d", l.serial)
	l.services = append(l.services, name)
	return l.createService(ctx, name)
}

func (l *load) changeNodes(ctx context.Context, add bool) error {
	if len(l.nodes) == 0 || add && len(l.nodes) < mostNodes {
		l.serial++
		name := fmt.Sprintf("load-%d", l.serial)
		l.nodes = append(l.nodes, name)
		return l.do(ctx, NodeAdded, name, func(ctx context.Context) error { return l.user().AddNode(ctx, name, true) })
	}
	name := take(&l.nodes, l.play.random.IntN(len(l.nodes)))
	return l.do(ctx, NodeRemoved, name, func(ctx context.Context) error { return l.user().RemoveNode(ctx, name) })
}

func (l *load) createService(ctx context.Context, name string) error {
	return l.do(ctx, ServiceCreated, name, func(ctx context.Context) error {
		return client.IgnoreAlreadyExists(l.user().Client.Create(ctx, bed.LoadBalancer(name)))
	})
}

// deleteService deletes the version that it has read. Without that the API server may delete a Service to which a finalizer
// is being added, and no cloud controller would come to know (https://github.com/kubernetes/kubernetes/issues/77988).
func (l *load) deleteService(ctx context.Context, name string) error {
	service := bed.LoadBalancer(name)
	if err := l.user().Client.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
		return client.IgnoreNotFound(err)
	}
	seen := client.Preconditions{UID: &service.UID, ResourceVersion: &service.ResourceVersion}
	return client.IgnoreNotFound(l.user().Client.Delete(ctx, service, seen))
}

func (l *load) kill(ctx context.Context, node string) error {
	return l.do(ctx, NodeKilled, node, func(ctx context.Context) error { return l.user().KillNode(ctx, node) })
}

func take(names *[]string, at int) string {
	name := (*names)[at]
	*names = slices.Delete(*names, at, at+1)
	return name
}

// do notes what is about to be done and tries until it is done: API server and cloud may be away.
func (l *load) do(ctx context.Context, event, name string, try func(context.Context) error) error {
	l.play.witness.note(event, name)
	var last error
	// What was begun is ended: a Service of which no one knows whether it was made proves nothing.
	ctx = context.WithoutCancel(ctx)
	err := wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, l.play.Err()
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w (last: %w)", event, name, err, last)
	}
	return nil
}

// state is what there is now.
func (l *load) state(ctx context.Context) (State, error) {
	state := State{Cloud: l.play.Cloud.Snapshot(l.play.Scenario.Name), Nodes: map[string]string{}}
	services, nodes := &corev1.ServiceList{}, &corev1.NodeList{}
	if err := l.user().Client.List(ctx, services, client.InNamespace(metav1.NamespaceDefault)); err != nil {
		return State{}, err
	}
	for _, service := range services.Items {
		// Others serve the other classes.
		if service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.Spec.LoadBalancerClass == nil {
			state.Services = append(state.Services, service.Name)
		}
	}
	if err := l.user().Client.List(ctx, nodes); err != nil {
		return State{}, err
	}
	for _, node := range nodes.Items {
		state.Nodes[node.Name] = node.Spec.PodCIDR
		if _, excluded := node.Labels[corev1.LabelNodeExcludeBalancers]; excluded {
			state.Excluded = append(state.Excluded, node.Name)
		}
	}
	return state, nil
}

// unserved says in what the cloud differs from the cluster.
func unserved(state State) []string {
	lost := unservedServices(state)
	if !state.Routes {
		return lost
	}
	routes := map[string]string{}
	for _, route := range state.Cloud.Routes {
		routes[route.TargetNode] = route.DestinationCIDR
	}
	for _, node := range slices.Sorted(maps.Keys(state.Nodes)) {
		if state.Nodes[node] == "" || routes[node] != state.Nodes[node] {
			lost = append(lost, fmt.Sprintf("Node %s has CIDR %q and the route to it is %q", node, state.Nodes[node], routes[node]))
		}
		delete(routes, node)
	}
	for _, node := range slices.Sorted(maps.Keys(routes)) {
		lost = append(lost, "there is a route to "+node+", which is gone")
	}
	return lost
}

func unservedServices(state State) []string {
	var lost []string
	instances := map[string]bool{}
	for _, instance := range state.Cloud.Instances {
		instances[instance.Name] = true
	}
	nodes := slices.Sorted(maps.Keys(state.Nodes))
	for _, node := range nodes {
		if !instances[node] {
			lost = append(lost, "Node "+node+" is there although its instance is gone")
		}
	}
	balancers := map[string]bool{}
	nodes = only(nodes, func(node string) bool { return !slices.Contains(state.Excluded, node) })
	for _, balancer := range state.Cloud.LoadBalancers {
		balancers[balancer.Name] = true
		if !slices.Equal(balancer.Hosts, nodes) {
			lost = append(lost, fmt.Sprintf("load balancer %s leads to %v, and the Nodes are %v", balancer.Name, balancer.Hosts, nodes))
		}
	}
	for _, service := range state.Services {
		if name := balancerOf(service); !balancers[name] {
			lost = append(lost, "Service "+service+" has no load balancer")
		} else {
			delete(balancers, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(balancers)) {
		lost = append(lost, "load balancer "+name+" is left over")
	}
	return lost
}

// balancerOf is the name that a load balancer of the default namespace has in the cloud.
func balancerOf(service string) string { return "kubernetes-default-" + service }
