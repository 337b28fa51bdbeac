// Package fleetmigration lets Clusters start as FleetMigrations say: it reads all of both, has pkg/fleet decide about all
// together, and writes what that comes to. It also tells the controller of Clusters which of them may start.
//
// It may import pkg/fleet, pkg/observation and the API types. One pass at a time is made for the whole fleet, because budgets
// cross FleetMigrations. It connects to no user cluster, deletes nothing, and writes no spec but the feature, where a
// FleetMigration says OnAdmission.
package fleetmigration
