// Command dashboards writes the dashboards of Grafana in config/grafana.
//
//	dashboards OUTPUT_ROOT
//
// Each dashboard is a list of sections with panels (fleet.go, cluster.go, controller.go); where a panel stands follows from their
// order (layout.go). Grafana's own types cannot be had as a module, so grafana.go has the part of its schema that is used.
//
// It may import the standard library only. It knows no metric: that each query is of metrics and labels that there are is what
// test/prometheus finds out from the written files.
package main
