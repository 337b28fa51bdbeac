// Package e2e migrates user clusters whose control planes are real processes: the demo's story, hand-overs in which
// processes outlive their pods or the manager is away, plans of the built program against what happens, rolls that are
// stopped in the middle, and the end of a testbed. It judges by what the simulated cloud and the sampler recorded and by
// what the API servers say. It may import test/testbed, test/conformance and the API types; it never imports the code
// under test.
package e2e
