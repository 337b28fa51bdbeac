// Package preflight asks what could go wrong before anything is touched: one check for each hazard, one file for each family of
// them. Facts in, findings out; all of them at once, in a stable order.
//
// It imports package migration, whose vocabulary it speaks, the API types and the value types of Kubernetes. It never imports a
// client, a context, a clock or a log: now is an argument. A check that could not look says so, and has not passed.
package preflight
