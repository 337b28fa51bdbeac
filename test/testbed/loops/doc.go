// Package loops is the testbed's evidence on who ran which cloud loop when.
// Its sampler asks every controller manager process twice a second and writes
// what it saw to a file; its analysis is pure and works on that file and on
// the simulated cloud's log alone, never on what the controller believes.
//
// It may import test/testbed/simcloud for the form of the cloud's log, and the
// prometheus text parser. It never imports the code under test, talks to no
// Kubernetes API, and never ends or starts a process.
package loops
