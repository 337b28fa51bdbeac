// Package simcloud is the driver of the testbed's simulated cloud for the real machine-controller and its webhook.
// hack/machine-controller.sh lays it over a checkout, with the client that our stand-in has, too, in folder cloud.
//
// Like other drivers it makes, finds and deletes instances, gives them the user data, and asks the cloud about what is
// validated. What an instance does with its user data is up to the testbed, as it is up to machines.
package simcloud

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"go.uber.org/zap"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	cloudprovidererrors "k8c.io/machine-controller/pkg/cloudprovider/errors"
	"k8c.io/machine-controller/pkg/cloudprovider/instance"
	"k8c.io/machine-controller/pkg/cloudprovider/provider/simcloud/cloud"
	cloudprovidertypes "k8c.io/machine-controller/pkg/cloudprovider/types"
	clusterv1alpha1 "k8c.io/machine-controller/sdk/apis/cluster/v1alpha1"
	"k8c.io/machine-controller/sdk/providerconfig"
)

// configFile has the credentials, which other drivers find in the Machine or in the environment. The stand-in has the same flag.
var configFile = flag.String("cloud-config", "", "simcloud's cloud.conf")

type provider struct{}

// New is called for each Machine and each validation.
func New(providerconfig.ConfigVarResolver) cloudprovidertypes.Provider { return provider{} }

func (provider) AddDefaults(_ *zap.SugaredLogger, spec clusterv1alpha1.MachineSpec) (clusterv1alpha1.MachineSpec, error) {
	return spec, nil
}

// Validate fails while the cloud does not answer, or does not have the image.
func (provider) Validate(ctx context.Context, _ *zap.SugaredLogger, spec clusterv1alpha1.MachineSpec) error {
	instances, err := cloud.Open(*configFile)
	if err != nil {
		return err
	}
	return instances.Ask(ctx, spec.ProviderSpec.Value.Raw)
}

func (provider) Get(
	ctx context.Context, _ *zap.SugaredLogger, machine *clusterv1alpha1.Machine, _ *cloudprovidertypes.ProviderData,
) (instance.Instance, error) {
	return get(ctx, machine.Spec.Name)
}

func get(ctx context.Context, name string) (instance.Instance, error) {
	instances, err := cloud.Open(*configFile)
	if err != nil {
		return nil, err
	}
	found, err := instances.Instance(ctx, name)
	if errors.Is(err, cloud.ErrNotFound) {
		return nil, cloudprovidererrors.ErrInstanceNotFound
	}
	if err != nil {
		return nil, err
	}
	return server{found}, nil
}

func (provider) Create(
	ctx context.Context, _ *zap.SugaredLogger, machine *clusterv1alpha1.Machine, _ *cloudprovidertypes.ProviderData, userdata string,
) (instance.Instance, error) {
	instances, err := cloud.Open(*configFile)
	if err != nil {
		return nil, err
	}
	made, err := instances.Create(ctx, cloud.Instance{Name: machine.Spec.Name, UserData: userdata})
	if err != nil {
		return nil, err
	}
	return server{made}, nil
}

// Cleanup asks for the deletion, and says that it is done when the machine-controller comes again, as most drivers do.
func (provider) Cleanup(
	ctx context.Context, _ *zap.SugaredLogger, machine *clusterv1alpha1.Machine, _ *cloudprovidertypes.ProviderData,
) (bool, error) {
	if _, err := get(ctx, machine.Spec.Name); cloudprovidererrors.IsNotFound(err) {
		return true, nil
	} else if err != nil {
		return false, err
	}
	instances, err := cloud.Open(*configFile)
	if err != nil {
		return false, err
	}
	if err := instances.Delete(ctx, machine.Spec.Name); err != nil {
		return false, fmt.Errorf("delete instance %s: %w", machine.Spec.Name, err)
	}
	return false, nil
}

func (provider) MachineMetricsLabels(*clusterv1alpha1.Machine) (map[string]string, error) {
	return map[string]string{}, nil
}

func (provider) MigrateUID(context.Context, *zap.SugaredLogger, *clusterv1alpha1.Machine, types.UID) error {
	return nil
}

func (provider) SetMetricsForMachines(clusterv1alpha1.MachineList) error { return nil }

// server is an instance as the machine-controller looks at it.
type server struct{ instance *cloud.Instance }

func (s server) Name() string { return s.instance.Name }

func (s server) ID() string { return s.instance.ID }

func (s server) ProviderID() string { return s.instance.ProviderID }

func (s server) Addresses() map[string]corev1.NodeAddressType {
	all := map[string]corev1.NodeAddressType{}
	for _, address := range s.instance.Addresses {
		all[address] = corev1.NodeInternalIP
	}
	return all
}

func (s server) Status() instance.Status { return instance.StatusRunning }
