// Package credentials has the command usercluster-credentials, which grants the manager its rights in a user cluster and writes
// the kubeconfig that it uses there. It may import config and what the other commands share; it reads an administrator's
// kubeconfig, prints no credentials, and writes nothing without --create.
package credentials
