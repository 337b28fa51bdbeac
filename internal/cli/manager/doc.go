// Package manager wires the controllers and the webhook together and runs them. It may import everything but the other
// commands; it decides nothing about a Cluster.
package manager
