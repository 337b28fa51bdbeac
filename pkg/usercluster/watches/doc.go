// Package watches watches a user cluster while something of it is being migrated. A watch holds no object: it wakes the
// reconciler, or tells a store of its owner that something changed, and decisions rest on live reads.
//
// It may import pkg/usercluster/reads and Kubernetes clients. It never decides what a change means, and never makes a client:
// who opens a session hands them in.
package watches
