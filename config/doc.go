// Package config has what is installed in user clusters, for the command usercluster-credentials: the files of
// config/usercluster-rbac and config/usercluster-rbac-bootstrap. It may import the standard library, and knows nothing of what
// is in them.
package config
