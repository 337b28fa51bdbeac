// Package prometheus tests the rules of config/prometheus with promtool, and holds them and the dashboards of config/grafana
// against docs/metrics.md, config/kube-state-metrics, and the pages that they link to. It may import the libraries of Prometheus
// and of its operator. It is a module of its own, because they bring what nothing else of the project needs. With the tag
// dashboardsdemo it runs the testbed with Prometheus and kube-state-metrics beside it. It never runs Grafana.
package prometheus
