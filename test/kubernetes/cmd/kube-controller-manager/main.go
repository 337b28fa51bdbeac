package main

import (
	"os"
	_ "time/tzdata" // time zones of CronJobs, on machines without a database of them

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric of the version
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/ccm-migration/ccm-migration-controller/test/kubernetes/simcloud"
)

func main() {
	simcloud.Register("kube-controller-manager")
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
