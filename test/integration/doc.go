// Package integration tests, against a real kube-apiserver and etcd, what lives in the API server and not in our
// processes: the CRD with its CEL rules, the webhook behind its configuration, and the rendered kustomize output. It may
// import everything; it never runs a reconciler, which test/e2e and the tests beside the controllers do.
package integration
