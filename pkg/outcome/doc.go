// Package outcome has what a decision comes to: an action to perform, a wait that ends by itself, or a failure that a person has
// to end. Whoever decides returns them, and whoever acts, plans or reports reads them. It imports the vocabulary of what is
// observed, and decides nothing.
package outcome
