// Package fleet decides which Clusters may start to migrate now, and why the others may not: one decision for all
// FleetMigrations together, because budgets count every Cluster that migrates, whoever started it. The controller, the
// commands, the metrics and the forecast read the one Plan, so that they cannot disagree.
//
// It imports the API types, pkg/observation, pkg/fleet/window and the library's label selectors. It has no client, context,
// clock or log: now is an argument. It never changes what it was given, and what it could not look at admits no Cluster.
package fleet
