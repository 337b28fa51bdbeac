package main

import (
	"os"

	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric of the version
	"k8s.io/klog/v2"

	"github.com/ccm-migration/ccm-migration-controller/test/kubernetes/simcloud"
)

func main() {
	simcloud.Register("cloud-controller-manager")
	// Its port would be bound on all addresses, but on one machine several run.
	noWebhooks := 0
	defaults, err := options.NewCloudControllerManagerOptionsWithProviderDefaults(
		options.ProviderDefaults{WebhookBindPort: &noWebhooks},
	)
	if err != nil {
		klog.Fatalf("make the default options: %v", err)
	}
	command := app.NewCloudControllerManagerCommand(defaults, initialize, app.DefaultInitFuncConstructors,
		names.CCMControllerAliases(), cliflag.NamedFlagSets{}, wait.NeverStop)
	os.Exit(cli.Run(command))
}

func initialize(completed *config.CompletedConfig) cloudprovider.Interface {
	wanted := completed.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(wanted.Name, wanted.CloudConfigFile)
	if err != nil {
		klog.Fatalf("start cloud provider %q: %v", wanted.Name, err)
	}
	if cloud == nil {
		klog.Fatalf("cloud provider %q runs no cloud loop: set --cloud-provider=%s", wanted.Name, simcloud.ProviderName)
	}
	return cloud
}
