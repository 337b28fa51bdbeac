// Package simulation is a small model of one user cluster and of everything around it that moves by itself: the
// Deployments of the control plane with their pods and processes, leader election, the fence, the machine-controller
// with its traps, kubelets, addons and load balancers. A World is the truth, in parts that each know how they move on; a
// Controller observes it as the real one does, and applies what was decided. Foresee goes on from a real cluster as it
// was observed, until nothing is left to do: that is what a plan is made of.
//
// It may import the pure packages below it (pkg/migration and what that rests on) and the API types. It never uses a client, a
// context, a clock, a logger or randomness of its own: all of it comes from the *rand.Rand that it is given, so a seed
// replays a run exactly. It knows no fault, no rule and no story: pkg/simulation/simtest brings them, through Hooks.
package simulation
