// Command images asks the registries for every image of the catalogue: of all providers, in all minors of Kubernetes that each
// has releases for. It prints a line for each image:
//
//	ok             the registry has it; an index names linux/amd64
//	absent         the registry answered that it has no such image, or none for linux/amd64
//	could not ask  nothing is known of it
//
// The last line counts them. The exit status is 1 when an image is absent, 3 when none is but some could not be asked for.
//
// It asks as render --digests does, with the credentials of the docker configuration and the proxy of HTTPS_PROXY. The simulated
// cloud is left out: the testbed builds its programs, and no registry has them. An image without an index is not asked for its
// platform.
//
// It may import internal/cli/{registries,render,terminal} and pkg/provider.
package main
