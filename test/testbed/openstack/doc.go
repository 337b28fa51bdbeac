// Package openstack is a cloud that speaks as much of the APIs of OpenStack as tests need: Keystone's logins (version 3), and the
// load balancers of Octavia, with their pages, conflicts and statuses. It remembers each call.
//
// It may import the standard library. It never imports the code under test.
package openstack
