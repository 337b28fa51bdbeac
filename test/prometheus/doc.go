// Package prometheus tests the rules of config/prometheus with promtool, and holds them against docs/metrics.md and
// docs/alerts.md. It is a module of its own, because Prometheus brings libraries that nothing else of the project needs.
package prometheus
