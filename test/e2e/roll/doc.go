// Package roll holds the end-to-end tests of what comes before and in a roll, in one audited testbed with a user
// cluster for each story: the circuit breaker and the objectives stop rolls in the middle, what the built program
// planned is what happens, and the hazards of make hazards that are marked CI are found before anything is touched,
// and come true.
//
// The package itself is empty. Its specs may import test/e2e/suite, test/testbed and the API types; they never import
// the code under test, and judge no absolute times but that nothing happens in those in which nothing may.
package roll
