// Package rollout replaces Machines, forward to external kubelets and back to in-tree ones: which MachineDeployments may roll now
// and why, the canary before them, the breaker that holds each of them, what halts a roll, and what the new Nodes have to show.
// Next names the one next thing from an observation and the facts, and what it records comes with it: nothing that it is given is
// changed. It imports what was observed and what a decision comes to. It knows no other row of the migration: whoever has the
// hand-over brings the gates.
package rollout
