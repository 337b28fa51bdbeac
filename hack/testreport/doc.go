// Command testreport says how a run of hack/test.sh went. It reads what the run left in its folder RUN, so it can say
// the same again later, and of a run that was cut off, too:
//
//	testreport count TIER RUN     the failures, the time each package took against its budget, and as the last line
//	                              "N passed, N failed, N skipped"
//	testreport names RUN          all tests and specs that ran to their end, one a line
//	testreport lost OLD NEW MOVED the names of list OLD that list NEW has not, although file MOVED names no successor
//
// It runs in the root of the repository. A folder RUN has
//
//	plan             the groups of the run, one a line
//	groups           a line a group that ended: its name, its seconds, its exit status
//	GROUP.jsonl      the events of go test -json; a group that runs another program has none
//	GROUP.log        what another program printed; its last line says why it failed
//	suites           the packages that are suites of Ginkgo, one a line
//	junit/NAME.xml   what each suite says of its specs; the name is the last part of the package's path
//
// In a suite the specs count and not the Go test around them; a spec that a label leaves out is no test of that run, and one that
// calls Skip is a skipped one. Whatever fails outside any test (a package, a group, a suite without a readable file of specs or
// of which none ran, in tier all a budget exceeded by half) counts as one failed test: a run that could not look is never a good
// one.
//
// The minutes are those of hack/test-budgets.txt. They are compared with what go test measures, which leaves out
// compiling.
//
// It imports the standard library only, so that it compiles in a second.
package main
