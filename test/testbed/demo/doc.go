// Package demo tells the story of four user clusters that move to the external cloud provider, on the testbed: alpha in
// full, beta created with the feature, gamma with Machines that cannot be rolled, delta without any. What it reports is
// computed from raw records of the cloud's side, of the managers' own metrics, and of their Leases and processes, not from what
// the controller believes; its judge excuses no cluster and no missing record.
// It may import the testbed and the API types; it never imports controllers. The e2e test tells the same story.
package demo
