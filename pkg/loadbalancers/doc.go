// Package loadbalancers looks at load balancers in a cloud and renames them: the only code that talks to the API of a cloud. So
// far that is Octavia of OpenStack, by gophercloud, with the cloud configuration of the Cluster and as the CCM logs in with it.
//
// It imports what says who logs in (pkg/provider/clouds/openstack) and the words of pkg/observation and pkg/outcome. It creates
// and deletes nothing, keeps no credentials and no tokens, follows no redirect, and no error repeats what a cloud said.
package loadbalancers
