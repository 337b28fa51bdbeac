// Package provider is the catalogue: for every provider and Kubernetes minor which images, flags, objects and keys
// make up its cloud-controller-manager (CCM) and CSI driver, and what the migration has to know about its in-tree past.
// docs/adding-a-provider.md walks through one. Its rooms, from the ground up:
//
//	manifest   the types, and the pieces that the objects of all providers are built of
//	gcfg       the INI files of the in-tree providers
//	releases   the table of a provider's releases, by minor
//	clouds     a profile for each provider: what differs, as data
//	render     fence, probe, migration lock and placement: what is made of a rendered CCM
//	versions   the rules for versions, and what a provider has for each minor
//	contents   what a provider has over all minors
//	overlay    a ProviderProfile, laid over what is rendered
//	managers   which pods are a CCM, whoever made it
//
// The catalogue itself is what needs all providers: it finds one by its name, or says which was meant, and asks the rooms.
//
// It imports its rooms, pkg/observation, the API types and the Kubernetes API machinery's value types. It never imports a
// client, a context, a clock or a logger, keeps no state but what it once rendered of itself, and never puts a value of a cloud
// configuration, or of an argument, into a message.
package provider
