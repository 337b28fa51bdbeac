// Package osm is the operating-system-manager stand-in: for every revision of a
// MachineDeployment it writes once what kubelets of that revision boot with.
//
// Whether that says external comes from its own flag at that moment; a changed
// flag alone rewrites nothing. It imports controller-runtime and its sibling
// packages, and never reads a Machine or a Node.
package osm
