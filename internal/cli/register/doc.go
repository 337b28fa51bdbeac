// Package register has the command that proposes Clusters for user clusters that are there already. It may import everything but
// the other commands; it only reads the management cluster and files, keeps no value of a Secret, and applies nothing.
package register
