// Package integration tests against real API servers: one is the management cluster of all tests, in which each has a
// namespace, and a few are user clusters, of which each test has one to itself while it runs. Tests run side by side,
// but for those that change what all share: ProviderProfiles, the CRD, and who answers the webhooks.
//
// One half is about what lives in the API server and not in our processes: the CRD with its CEL rules, the webhooks
// behind their configurations, and the rendered kustomize output. The other half reconciles Clusters, pass by pass and
// with a clock that only a test steps; no manager and no controller runs, the test plays the Deployment controller, the
// kubelet, the machine-controller and the CCM by writing what they would write. It may import everything; it starts no
// process of ours, which test/e2e does. kubectl runs the commands of the runbooks.
package integration
