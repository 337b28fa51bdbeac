// Command mutants breaks the safety rules of the migration on purpose, one at a time, and shows that a test fails for
// each. A mutation is a piece of text that is replaced in a copy of one file, which the compiler is given through an
// overlay: the work tree is never written. A mutant that no test kills, one that does not compile, and one whose text
// is not found exactly once are errors.
//
// It may import the standard library only.
package main
