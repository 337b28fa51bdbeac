// Package usercluster is the only code that talks to user clusters. Its Registry holds one connection for each user
// cluster, made in a bounded pool from the kubeconfig Secret and probed from then on. A Session is that connection, and
// has the rooms that read facts for one decision and carry out the verbs: addons, facts, leases, machines. Each takes a
// client and what little else it needs, and knows no session; what they share is in reads and watches.
//
// All requests go through one transport: it judges addresses, follows no redirect, and bounds what an API server makes us hold.
// Lists are read page by page, and only what is made of a page is kept.
//
// Every fact is known, absent, or could not be looked at. Watches run only while a migration does. They hold no object: they wake
// the reconciler, and say that what an earlier pass read is still so (pkg/kept).
//
// It may import its rooms, the API types, pkg/migration, the rooms of pkg/provider but not the catalogue, and Kubernetes
// clients. It never decides what comes next, never touches the management cluster except to read the kubeconfig Secret, never
// stores anything outside of memory, and never puts a credential into an error, a log or a message.
package usercluster
