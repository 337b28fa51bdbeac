// Package rollback holds the end-to-end tests that take hand-overs back at several moments and then make them after
// all, in one testbed with a user cluster for each moment. They judge by the cloud's record of each way, the managers'
// own metrics, and what the API servers say.
//
// The package itself is empty. Its specs may import test/e2e/suite, test/testbed and the API types; they never import
// the code under test, and judge no absolute times, which depend on the machine.
package rollback
