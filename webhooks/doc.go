// Package webhooks holds the two admission webhooks of the project, both about Clusters.
//
// The mutating one puts the two annotations ccm-migration.k8c.io/migration-needed and csi-migration.k8c.io/migration-needed,
// both with the value "", on a Cluster when an update switches spec.features.externalCloudProvider on and the provider can
// migrate. A Cluster that is created with the feature gets none: there is nothing to migrate. It refuses nothing.
//
// The validating one refuses versions of Kubernetes that the version rules of the catalogue refuse, when a Cluster is created,
// goes to another version, or gets the feature; and a second Cluster of one control plane. It refuses a change, never a state:
// what was bad before the request may stay, so that labels, finalizers and everything else of such a Cluster can be written. It
// warns of fields that are set without any effect.
//
// The failurePolicy of both is Ignore. The annotations are an interface for others and never our state: the controller puts
// them back on its next pass when they are missing, so a call that was missed costs nothing. Of the version rules preflight asks
// those that a migration rests on once more, from the same table, and a CEL rule keeps the version while one runs. A webhook
// that failed closed would cost much: while we are down, one Cluster would make a GitOps tool refuse everything applied
// together with it. For the same reason the handlers admit what they cannot read.
//
// It may import the API types, controller-runtime and apimachinery; what the catalogue knows is passed in. It never changes spec,
// reads nothing but other Clusters and writes nothing, so a dry-run gets the same answer. What can be refused by looking at the
// object alone is refused by CEL rules in the CRD.
package webhooks
