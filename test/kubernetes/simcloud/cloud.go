package simcloud

import (
	"fmt"
	"io"
	"os"

	cloudprovider "k8s.io/cloud-provider"
)

// ProviderName is the value of --cloud-provider and the scheme of provider IDs.
const ProviderName = "simcloud"

// Loop names as the cloud logs them; the same as those of the metric
// running_managed_controllers.
const (
	loopService            = "service"
	loopRoute              = "route"
	loopCloudNode          = "cloud-node"
	loopCloudNodeLifecycle = "cloud-node-lifecycle"
)

// componentCCM is the only manager that runs the cloud-node controller.
const componentCCM = "cloud-controller-manager"

// Register makes the provider known to this process under ProviderName.
// Component is how the process calls itself in the cloud's log.
func Register(component string) {
	cloudprovider.RegisterCloudProvider(ProviderName, func(config io.Reader) (cloudprovider.Interface, error) {
		parsed, err := ParseConfig(config)
		if err != nil {
			return nil, err
		}
		hostname, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("read the hostname, which names this process in the cloud's log: %w", err)
		}
		return NewCloud(parsed, component, hostname), nil
	})
}

// NewCloud returns the provider for one tenant of the simulated cloud.
func NewCloud(config Config, component, hostname string) cloudprovider.Interface {
	return &cloud{client: newClient(config, component, hostname)}
}

type cloud struct {
	client *client
}

// Initialize does nothing: the provider runs no controllers of its own.
func (c *cloud) Initialize(cloudprovider.ControllerClientBuilder, <-chan struct{}) {}

// LoadBalancer is supported.
func (c *cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) {
	return &loadBalancers{client: c.client}, true
}

// Instances is superseded by InstancesV2, in-tree as well.
func (c *cloud) Instances() (cloudprovider.Instances, bool) { return nil, false }

// InstancesV2 is supported.
func (c *cloud) InstancesV2() (cloudprovider.InstancesV2, bool) {
	return newInstances(c.client), true
}

// Zones is superseded by InstancesV2.
func (c *cloud) Zones() (cloudprovider.Zones, bool) { return nil, false }

// Clusters is not supported.
func (c *cloud) Clusters() (cloudprovider.Clusters, bool) { return nil, false }

// Routes is supported.
func (c *cloud) Routes() (cloudprovider.Routes, bool) { return &routes{client: c.client}, true }

// ProviderName returns the name that the provider is registered under.
func (c *cloud) ProviderName() string { return ProviderName }

// HasClusterID is true: the tenant identifies the cluster.
func (c *cloud) HasClusterID() bool { return true }
