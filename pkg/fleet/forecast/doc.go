// Package forecast says when the Clusters of a FleetMigration start, when its waves open and pass, and when it ends: it plays
// the decision of pkg/fleet over time, from one moment at which something changes to the next.
//
//	doc.go        this
//	forecast.go   Make, and what a forecast says
//	durations.go  how long a Cluster takes: measured, or assumed
//	assume.go     what is assumed of the Clusters, because the decision asks for what only time brings
//	run.go        Run: the simulation
//	course.go     the way of one Cluster through it
//	end.go        whether there is an end, and what stands in its way
//
// What a forecast rests on stands in its Assumptions: approvals are given at once, what needs a person stays as it is, and
// a halt is for ever. It imports the API types, pkg/fleet, and pkg/observation. It has no client, context, clock or log: now is
// an argument. It never changes what it was given.
package forecast
