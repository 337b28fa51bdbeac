// Package fleet tells the story of a FleetMigration with three user clusters, in two waves: a budget keeps them apart, a person
// approves, and the manager is killed while it admits. Package test/testbed/fleet tells the same with eight.
package fleet
