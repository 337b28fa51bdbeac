// Command release makes the files of a release, which are the same in every run:
//
//	release --version=v0.1.0 --image=registry.example/ccm-migration-controller --out=DIR
//
// The checkout must be the one of the version's tag, without changes: the programs take their version from there. It may import
// the standard library, kustomize, YAML, and controller-runtime for Ctrl-C, and runs go, git, and the tools of hack/tools. It
// never publishes anything.
package main
