// Package addons proves what the catalogue renders on a real kube-apiserver: every provider with every minor that it has. The
// objects are applied, compared, repaired and pruned by pkg/usercluster, as the user that config/usercluster-rbac gives rights
// to. The API server's audit log says what was written, its admission which pods it lets into a namespace, and its authorizer
// what the identities of CCM and CSI driver may do.
//
// A new provider is found by itself. What it needs beyond the tables here fails a test that names it: see reasons_test.go.
// Each check is shown to fail, with objects that are wrong on purpose: see faults_test.go.
//
// The package may import everything; it starts no process but the API server and its etcd, and no pod ever runs in it.
package addons
