package simcloud

import (
	"context"
	"errors"
	"net/http"
	"sort"

	corev1 "k8s.io/api/core/v1"
)

// loadBalancer is the cloud's load balancer.
type loadBalancer struct {
	Name  string   `json:"name"`
	IP    string   `json:"ip,omitempty"`
	Hosts []string `json:"hosts"`
	Ports []int32  `json:"ports"`
}

type loadBalancers struct {
	client *client
}

// GetLoadBalancer returns the address of an existing load balancer.
func (l *loadBalancers) GetLoadBalancer(
	ctx context.Context,
	clusterName string,
	service *corev1.Service,
) (*corev1.LoadBalancerStatus, bool, error) {
	var found loadBalancer
	err := l.client.do(ctx, call{
		loop: loopService, name: "GetLoadBalancer", verb: http.MethodGet,
		path: l.path(ctx, clusterName, service), result: &found,
	})
	if errors.Is(err, errNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return found.status(), true, nil
}

// GetLoadBalancerName is a name that another value of --cluster-name changes,
// as that of most real providers: whoever hands over must keep the value.
func (l *loadBalancers) GetLoadBalancerName(_ context.Context, clusterName string, service *corev1.Service) string {
	return clusterName + "-" + service.Namespace + "-" + service.Name
}

// EnsureLoadBalancer creates the load balancer or updates the existing one.
func (l *loadBalancers) EnsureLoadBalancer(
	ctx context.Context,
	clusterName string,
	service *corev1.Service,
	nodes []*corev1.Node,
) (*corev1.LoadBalancerStatus, error) {
	made, err := l.put(ctx, "EnsureLoadBalancer", clusterName, service, nodes)
	if err != nil {
		return nil, err
	}
	return made.status(), nil
}

// UpdateLoadBalancer sets the hosts of the load balancer.
func (l *loadBalancers) UpdateLoadBalancer(
	ctx context.Context,
	clusterName string,
	service *corev1.Service,
	nodes []*corev1.Node,
) error {
	_, err := l.put(ctx, "UpdateLoadBalancer", clusterName, service, nodes)
	return err
}

// EnsureLoadBalancerDeleted deletes the load balancer if there is one.
func (l *loadBalancers) EnsureLoadBalancerDeleted(ctx context.Context, clusterName string, service *corev1.Service) error {
	err := l.client.do(ctx, call{
		loop: loopService, name: "EnsureLoadBalancerDeleted", verb: http.MethodDelete,
		path: l.path(ctx, clusterName, service),
	})
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

func (l *loadBalancers) put(
	ctx context.Context,
	method, clusterName string,
	service *corev1.Service,
	nodes []*corev1.Node,
) (*loadBalancer, error) {
	wanted := loadBalancer{
		Name:  l.GetLoadBalancerName(ctx, clusterName, service),
		Hosts: make([]string, 0, len(nodes)),
		Ports: make([]int32, 0, len(service.Spec.Ports)),
	}
	for _, node := range nodes {
		wanted.Hosts = append(wanted.Hosts, node.Name)
	}
	sort.Strings(wanted.Hosts)
	for _, port := range service.Spec.Ports {
		wanted.Ports = append(wanted.Ports, port.Port)
	}
	var made loadBalancer
	err := l.client.do(ctx, call{
		loop: loopService, name: method, verb: http.MethodPut,
		path: l.path(ctx, clusterName, service), body: wanted, result: &made,
	})
	return &made, err
}

func (l *loadBalancers) path(ctx context.Context, clusterName string, service *corev1.Service) []string {
	return []string{"loadbalancers", l.GetLoadBalancerName(ctx, clusterName, service)}
}

func (l *loadBalancer) status() *corev1.LoadBalancerStatus {
	return &corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: l.IP}}}
}
