// Package simcloud is the simulated cloud of the testbed: one HTTP server with
// instances, load balancers, routes and volumes for every cluster, which logs
// each call with who made it, and can be made slow or faulty. What the cloud
// saw is the testbed's evidence, so the log holds every call, refused ones too.
// A volume is attached to one instance at most. What is written to it is a folder,
// which moves to the instance and back, so that it is in one place only; it is
// no block device, and nothing is mounted.
//
// It may import the standard library and k8s.io/utils/clock. It never imports
// the code under test, and knows nothing of Kubernetes but names.
package simcloud
