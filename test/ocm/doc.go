// Package ocm plays the same small fleets with the rollout algorithm of Open Cluster Management and with pkg/fleet, and holds
// both against the same rules. It shows that these rules bite: an algorithm that many use breaks them.
//
// It is a module of its own, so that what only this comparison needs does not come into the product's. It has tests only, and may
// import pkg/fleet, the API types, and the modules of Open Cluster Management.
package ocm
