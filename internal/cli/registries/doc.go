// Package registries asks the registries of container images for their manifests: which digest an image has, or that there is no
// such image. What could not be asked is never taken for absent.
//
// It may import pkg/observation. It never pulls an image, and quotes no error that may hold credentials, tokens, or signed
// addresses: what went wrong is said in words of its own.
package registries
