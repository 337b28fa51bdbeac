// Package integration tests against real API servers, one for the management cluster and one for a user cluster. One half
// is about what lives in the API server and not in our processes: the CRD with its CEL rules, the webhooks behind their
// configurations, and the rendered kustomize output. The other half reconciles Clusters, pass by pass and with a clock
// that only a test steps; no manager and no controller runs, the test plays the Deployment controller, the kubelet, the
// machine-controller and the CCM by writing what they would write. It may import everything; it starts no process of
// ours, which test/e2e does.
package integration
