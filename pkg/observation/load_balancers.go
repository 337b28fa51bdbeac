package observation

import (
	"fmt"
	"strings"
)

// OldLoadBalancer is a load balancer of a Service that the in-tree provider made.
type OldLoadBalancer struct {
	Service Ref
	// ID of the load balancer in the cloud.
	ID string
	// Name that it has, and Wanted, the one that the CCM would have given it.
	Name, Wanted string
	// Status is what the cloud is doing with it: it can be changed when that is ACTIVE.
	Status string
	// Holders are the IDs of others with the wanted name.
	Holders []string
	// Twins are the IDs of others with its old name: no one can say which of them is the Service's.
	Twins []string
}

// Renamed says that it has the CCM's name.
func (b OldLoadBalancer) Renamed() bool { return b.Name == b.Wanted }

// Changing says that the cloud is changing it and takes no other change. Only deletion and failover are possible in status ERROR:
// https://docs.openstack.org/api-ref/load-balancer/v2/index.html#provisioning-status-codes
func (b OldLoadBalancer) Changing() bool { return strings.HasPrefix(b.Status, "PENDING_") }

// InTreeLoadBalancerName is the name that every in-tree provider gives the load balancer of a Service:
// https://github.com/kubernetes/cloud-provider/blob/v0.36.0/cloud.go (DefaultLoadBalancerName).
func InTreeLoadBalancerName(uid string) string {
	name := "a" + strings.ReplaceAll(uid, "-", "")
	return name[:min(len(name), 32)]
}

// LoadBalancerName is the CCM's, of at most 255 bytes:
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/util/util.go (Sprintf255).
func (p Provider) LoadBalancerName(cluster string, service Ref) string {
	name := fmt.Sprintf(p.LoadBalancerNames, cluster, service.Namespace, service.Name)
	return name[:min(len(name), 255)]
}
