// Package openstack is a cloud that speaks as much of the APIs of OpenStack as the in-tree provider, the CCM and the manager ask
// for: Keystone's logins (version 3), the servers of Nova, the ports and floating IPs of Neutron, and the load balancers of
// Octavia, with their pages, conflicts and statuses. It remembers each call, and answers 404 to what it does not know.
//
// It may import the standard library. It never imports the code under test, and holds one project.
package openstack
