// Package slo measures what KEP-2395 asks of a cloud-controller-manager, from what was seen of Nodes, Services and their events:
// how long a new Node is tainted, how long until it has its providerID and addresses, how long until load balancers know it, and
// how often that fails. All times are of our clock: a look says that something was so, not since when, and so a sample has a
// least and a most duration, and what lies in between is not counted as good or bad.
//
// It imports the standard library only. It has no clock, client or log, and what it keeps is bounded.
package slo
