// Package components has the arguments of the control plane's components: which ones a migration changes, what they were, and
// who changes them. A control plane that is not ours to change is changed by someone else, and Instructions say what to change,
// in which order, and what was seen done. The rows wait for the same post-conditions as where the controller changes it.
//
// It imports package pass. It knows no step of the migration.
package components
