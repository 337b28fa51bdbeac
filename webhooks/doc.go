// Package webhooks holds the one admission webhook of the project. It puts the two annotations
// ccm-migration.k8c.io/migration-needed and csi-migration.k8c.io/migration-needed, both with the value "", on a Cluster
// when an update switches spec.features.externalCloudProvider on and the provider can migrate. A Cluster that is created
// with the feature gets none: there is nothing to migrate.
//
// The failurePolicy is Ignore. The annotations are an interface for others and never our state: the controller puts them
// back on its next pass when they are missing, so a call that was missed costs nothing. A webhook that failed closed
// would cost much: while we are down, one flipped Cluster would make a GitOps tool refuse everything applied together
// with it. For the same reason the handler admits whatever it is asked about, even an object that it cannot read.
//
// It may import the API types, controller-runtime and apimachinery; which providers can migrate is passed in. It never
// changes spec, reads no other object and writes none, so a dry-run gets the same answer. What can be refused by looking
// at the object alone is refused by CEL rules in the CRD.
package webhooks
