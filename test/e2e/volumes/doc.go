// Package volumes holds the end-to-end tests with real volumes: simcloud's CSI driver with the external-provisioner and
// the external-attacher that others wrote beside it, KCM's own controllers of volumes, and a workload that knows whether
// its data are still the same. The build tag volumes has them, because the sidecars take too long to build for CI:
// make e2e-volumes.
//
// The package itself is empty. Its specs may import test/e2e/suite, test/testbed and the API types; they never import
// the code under test. What they do not show: volumes that an in-tree plugin made, which simcloud does not have.
package volumes
