// Package architecture tests the rules of the house that no linter checks, over the files of the repository: how long a
// file may be, that each package says what it is for, names that say nothing, and directives that would switch a rule
// off. It may import the standard library and the test framework only; it never builds or runs what it reads.
package architecture
