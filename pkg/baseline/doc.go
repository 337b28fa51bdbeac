// Package baseline knows what there was before a migration: it takes the inventory that is kept, compares it with what is there
// now, and says of each difference whether it is explained. The proofs of kubelets that the world does not go on showing are kept
// beside it.
//
// It may import the API, package observation and package wording. It never reads a cluster and never decides what a difference
// stops.
package baseline
