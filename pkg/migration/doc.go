// Package migration decides: observation in, one decision out. What was seen has the words of package observation, what is to be
// done those of package outcome. The migration is a table of post-conditions (table.go, rows.go), walked from the top on every
// pass; the first row that does not hold is the current step. Nothing of that is stored: only the facts that the world cannot say
// again are (v1alpha1.Facts).
//
// Its rooms, each of which imports only those before it: pass, components, noreturn, start, applied, loops, rollback. What needs
// to know how all rows stand is here.
//
// It imports the API types and the Kubernetes API machinery's value types. It never imports a client, a context, a
// clock, a logger or a random source: now is an argument, and the same input gives the same output.
package migration
