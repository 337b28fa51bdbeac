package main

import (
	"os"
	_ "time/tzdata" // time zones of CronJobs, on machines without a database of them

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go
	"k8s.io/component-base/metrics/prometheus/controllers"
	_ "k8s.io/component-base/metrics/prometheus/version" // metric of the version
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/ccm-migration/ccm-migration-controller/test/kubernetes/simcloud"
)

func main() {
	simcloud.Register("kube-controller-manager")
	// The first releases of 1.25 count what they run, and show it to no one; later ones have registered it already.
	controllers.Register()
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
