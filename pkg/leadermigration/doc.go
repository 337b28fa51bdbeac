// Package leadermigration knows the migration lock of kube-controller-manager (KCM) and cloud-controller-manager (CCM),
// KEP-2436, for every Kubernetes minor from 1.21 to 1.37: it renders its configuration, parses it the way that version
// does, checks the configurations of one cluster through its releases against the rules of the lock, and explains.
//
// Every fact stands in a table beside the upstream source that it was read from: names.go, minor.go, flags.go, bad.go and
// provider.go. docs/leader-migration.md is generated from them.
//
// It imports the standard library and sigs.k8s.io/yaml. It never imports a client, a context, a clock or a logger, reads
// no file and changes no cluster: bytes in, bytes and sentences out.
package leadermigration
