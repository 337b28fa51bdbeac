// Package pass has what a pass of one cluster is judged from: Input, an observation with the checkpoints and the time, and what
// several rooms of package migration ask of it. Nothing changes an input; what a row records comes back with its outcome.
//
// It imports what was observed, what a decision comes to, and the roll's index of Machines. It decides nothing.
package pass
