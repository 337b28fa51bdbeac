// Package bed puts the testbed together: the simulated cloud, one management cluster with our manager installed from
// config/, and user clusters whose control planes run in it. Everything is a process on a loopback address and ends
// with the Bed. It may import everything below test/testbed and the API types; it never imports controllers.
package bed
