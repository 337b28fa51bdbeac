// Package start has what stands before a migration starts: the findings about what the Cluster refers to and about the user
// cluster, other cloud-controller-managers, the approval of a plan, and the protocol that is chosen for the hand-over.
//
// It imports the rooms pass and components of package migration. It applies nothing.
package start
