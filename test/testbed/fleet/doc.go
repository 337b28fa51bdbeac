// Package fleet tells the story of a fleet that moves in waves, on the testbed: FleetMigrations let small user clusters go within
// budgets and windows, one of them breaks so that its FleetMigration halts, a person looks and resumes, a person approves, and
// the manager is killed while it admits. What it reports is computed from the Clusters' own status, the audit log and the raw
// records of the cloud, not from what a FleetMigration says of itself.
//
// It may import the testbed and the API types; it never imports controllers or pkg/fleet. The e2e test tells the small story.
package fleet
