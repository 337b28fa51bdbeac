// Package awscloud stands in for the part of AWS that its cloud-controller-manager asks for: EC2 and the classic load
// balancers, by the query protocol that both have, and the metadata of an instance.
//
// It knows the calls that the manager makes for a cluster that was in-tree before, checks each signature as AWS does, and
// refuses and records everything else: a call that no one expected is a test that fails.
//
// The package imports the standard library only. It never checks what an IAM policy would, and holds one cluster's VPC.
package awscloud
