// Package rollout decides which MachineDeployments of one user cluster may be rolled now, and why. It imports the API
// types and the API machinery's value types only; it never imports a client, a context, a clock or a logger, and it
// never looks at Machines: what a pool's state is was decided before.
package rollout
