// Package management is the way of a command into the management cluster, by the current kubeconfig, and the flags that say
// which kubeconfigs of user clusters are taken. It may import everything but the controllers; it never prints.
package management
