// Package demo tells the story of four user clusters that move to the external cloud provider, on the testbed: alpha in
// full, beta created with the feature, gamma with Machines that cannot be rolled, delta without any. What it reports is
// computed from raw records of the cloud's side and of the managers' own metrics, not from what the controller believes.
// It may import the testbed and the API types; it never imports controllers. The e2e test tells the same story.
package demo
