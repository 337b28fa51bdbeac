// Package suite is what the packages of end-to-end tests share: how a Ginkgo suite is run (Run, Prepare), a testbed for
// the specs of one container (Testbed), stories that are told side by side there (Stories), what is asked of the
// records when they have ended, and all waits in one place (timings.go).
//
// Each package is one process with its own testbed in its own folder, so packages run side by side; the specs of one
// process run one after the other, so stories run in goroutines:
//
//	BeforeAll ── bed ──┬── story of user cluster a ───────────┐
//	                   ├── story of user cluster b ──┐        │
//	                   └── manager                   │        │
//	It of a ································ waits ··········╵ fails as the story failed
//	It of b ·········································╵·········
//	It that judges the records of all ························
//
// It may import test/testbed, test/conformance, the API types, Ginkgo and Gomega. It never imports the code under test,
// and holds no test of that: what is expected of one thing only stands in the package that tests it.
package suite
