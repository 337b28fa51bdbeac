// Package kubestatemetrics plays config/kube-state-metrics with the program that reads it, kube-state-metrics' own package for
// custom resources: which series objects have with the status that a pass writes, and how many there can be. It may import the
// API types, controllers/cluster/status, and test/passes. It is a module of its own, because kube-state-metrics brings libraries
// that nothing else of the project needs. It never starts kube-state-metrics, which make dashboards-demo builds
// here, and talks to no API server.
package kubestatemetrics
