// Package gitops evaluates the health check expressions of config/gitops/flux as Flux does, with its own evaluator. It is a
// module of its own, because that brings libraries that nothing else of the project needs. What Argo CD says is in
// test/conformance.
package gitops
