// Package facts reads from a user cluster what a pass decides on and no other room reads: Nodes and their kubelets,
// load balancers, volumes, storage classes, drains, how long things take, cloud-controller-managers of others, and what
// preflight asks for. What could not be looked at is a fact, too.
//
// It may import pkg/migration, pkg/controlplane, pkg/provider/{manifest,managers,render}, pkg/slo, and the other rooms of
// pkg/usercluster for what they already read. It never judges what it read, and changes nothing but the default StorageClass.
package facts
