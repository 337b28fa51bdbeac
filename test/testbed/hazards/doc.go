// Package hazards makes on purpose what preflight warns of, and compares what happens with what it said. A Group is a user
// cluster with one hazard or more, which is data: how it is staged, which finding has to name which objects, and what has to
// happen when the finding is accepted. Before anybody accepts anything, the API server's audit log shows that nothing was
// touched.
//
// It may import the testbed and the API types, and never the code under test: it knows of a finding what stands in the status.
package hazards
