// Command rights writes what the controller may do in a user cluster with the objects of one provider: a file of
// config/usercluster-rbac for each provider of the catalogue, from what the catalogue renders for all its minors.
//
//	rights OUT_DIR
//
// It runs in the root of the repository and may import the standard library, the API types, pkg/migration and pkg/provider. It
// never reads a cluster, and grants nothing that is not rendered: every rule that writes has names.
package main
