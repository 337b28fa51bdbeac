// Package cluster reconciles Cluster objects: observe, render, decide, act, report. Each action has its files: observe*.go fill a
// observation.Observation from both clusters, render.go makes what they are compared with, pkg/migration decides, act*.go do
// the one action of the decision, report.go writes the status once, which package status computes. Beside the passes, the
// Planner makes the plans that persons approve. The package may import everything below it; it never decides by itself, never
// reads a condition back, and sets none: package status does.
package cluster
