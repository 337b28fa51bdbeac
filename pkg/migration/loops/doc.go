// Package loops hands the cloud loops over: the stages of each protocol, from the baseline to the CCM that leads, the guard
// afterwards, the migration lock, the loop cloud-node, and our right to KCM's Lease. The proof itself is package handover.
//
// It imports the rooms below it: pass, components, noreturn, start and applied. It knows no row behind the hand-over.
package loops
