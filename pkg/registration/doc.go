// Package registration proposes Clusters for user clusters that are there already: from the Deployments of their control planes,
// what a platform's own object says of them, and the names and keys of Secrets. Each field of a proposal says where its value
// comes from and what a person has to check; what could not be found out has no value, and the proposal says what to fill in.
// Every proposal has the feature off and mode PlanOnly.
//
// It may import pkg/controlplane, which recognizes components and reads their arguments, pkg/{observation,ownership,wording}, the
// API types, and the value types of Kubernetes. It reads no cluster and no file: the caller brings what was read, in three
// values, and writes what is proposed. It never sees the value of a Secret, never guesses, and never takes what could not be
// looked at for absent.
package registration
