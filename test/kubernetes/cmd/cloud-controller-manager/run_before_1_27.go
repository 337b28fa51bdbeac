//go:build before_1_27

package main

import (
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
)

// run of libraries that have no webhooks, and no aliases: the controllers have their short names.
func run() int {
	defaults, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatalf("make the default options: %v", err)
	}
	return cli.Run(app.NewCloudControllerManagerCommand(
		defaults, initialize, app.DefaultInitFuncConstructors, cliflag.NamedFlagSets{}, wait.NeverStop,
	))
}
