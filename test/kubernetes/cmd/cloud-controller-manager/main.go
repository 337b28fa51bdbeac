package main

import (
	"os"

	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app/config"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go
	"k8s.io/component-base/metrics/prometheus/controllers"
	_ "k8s.io/component-base/metrics/prometheus/version" // metric of the version
	"k8s.io/klog/v2"

	"github.com/ccm-migration/ccm-migration-controller/test/kubernetes/simcloud"
)

func main() {
	simcloud.Register("cloud-controller-manager")
	// The first releases of 1.25 count what they run, and show it to no one; later ones have registered it already.
	controllers.Register()
	os.Exit(run())
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
