// Package watches watches a user cluster while something of it is being migrated. A watch holds no object: it wakes the
// reconciler, or tells a store of its owner that something changed. What changed is counted, so that a pass knows whether what an
// earlier one read is still so.
//
// It may import pkg/usercluster/reads and Kubernetes clients. It never decides what a change means, and never makes a client:
// who opens a session hands them in.
package watches
