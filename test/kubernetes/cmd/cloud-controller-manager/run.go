//go:build !before_1_27

package main

import (
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
)

func run() int {
	// Its port would be bound on all addresses, but on one machine several run.
	noWebhooks := 0
	defaults, err := options.NewCloudControllerManagerOptionsWithProviderDefaults(
		options.ProviderDefaults{WebhookBindPort: &noWebhooks},
	)
	if err != nil {
		klog.Fatalf("make the default options: %v", err)
	}
	return cli.Run(app.NewCloudControllerManagerCommand(defaults, initialize, app.DefaultInitFuncConstructors,
		names.CCMControllerAliases(), cliflag.NamedFlagSets{}, wait.NeverStop))
}
