// Package handover holds the end-to-end tests that make hand-overs difficult, in one testbed with a user cluster for
// each story: the manager is away, processes outlive their pods, the managers keep each other out by the migration
// lock, administrators follow instructions or do not, and the scenarios of make handover that are marked CI.
//
// The package itself is empty. Its specs may import test/e2e/suite, test/testbed and the API types; they never import
// the code under test, and judge no absolute times: make handover does.
package handover
