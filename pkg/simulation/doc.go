// Package simulation is a small model of one user cluster and of everything around it that moves by itself: the
// Deployments of the control plane with their pods and processes, leader election, the fence, the machine-controller
// with its traps, kubelets and load balancers. Every actor is a step function; a run lets them act in random order,
// lets the controller observe, decide and apply, kills it between any two lines, and checks the safety rules on the
// world's truth after every step. Tests, plan and the demo share it.
//
// It may import pkg/migration, pkg/rollout and the API types. It never uses a client, a context, a clock, a logger or
// randomness of its own: all of it comes from the *rand.Rand that it is given, so a seed replays a run exactly.
package simulation
