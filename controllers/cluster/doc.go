// Package cluster reconciles Cluster objects: observe, decide, act, report, one file each. It fills a
// migration.Observation from both clusters, lets pkg/migration decide, does the one verb of the decision, and writes
// the status once. It may import everything below it; it never decides by itself, never reads a condition back, and
// sets conditions in cluster_status.go only.
package cluster
