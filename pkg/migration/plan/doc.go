// Package plan says what a migration will do before it does anything: it lets a simulation go on from a real observation, by the
// same Decide that the controller follows, and describes what came of it: actions in order with their objects and fields,
// Machines, disruption, an estimate of the duration with what it rests on, the point of no return, and what differs afterwards.
//
// It may import pkg/migration, its simulation and the API types. It never uses a client, a context, a clock or a logger, and it
// never sees the value of a Secret.
package plan
