// Command mutants breaks the safety rules of the migration on purpose, one at a time, and shows that a test fails
// for each. A mutant names a function of a package and says how it is broken: by an operator, as always, never,
// without or skips, and by names that the broken place mentions. It quotes no lines and no files, so code may be
// laid out in another way and functions may move within their package. A place that is not found, or that is not
// the only one, is an error.
//
// All mutants are compiled together: the broken copies of a function stand beside it, and an environment variable
// of the test binary says which one is active. The compiler is given the changed files through an overlay: the work
// tree is never written. A mutant that no test kills, and one that does not compile, are errors, too.
//
//	choice.go     which mutants are run
//	mutants*.go   the mutants, by rule
//	truths.go     operators that break conditions
//	operators.go  operators that break anything else
//	find.go       the one place that an operator means
//	source.go     functions, by their names
//	weave.go      functions and their broken copies in one file
//	build.go      the test binaries
//	batches.go    the order of the tests
//	run.go        the verdicts
//
// It may import the standard library only.
package main
