// Package fleetlimits has a FleetMigration with as many and as long values as the API allows, and a fleet that fills its status.
// Nothing but tests may import it: one holds the status against the bar, another one against a real API server.
package fleetlimits
