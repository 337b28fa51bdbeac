// Package bystanders makes what a user cluster runs besides what a test is about: workloads, Pods, budgets, Services and
// volumes in the shapes that real clusters have and no test thinks of. A seed draws them, so that each run meets others and
// each can be repeated. They are few, none of their pods is a process, and none of them keeps a Node from being drained. Odd
// Nodes are made by the machine-controller's stand-in, by the same seed.
//
// A shape is an entry of a list (shapes.go), an image one of another (images.go). What is made is what a real API server
// takes, defects included: test/integration asks one. It imports nothing of this project.
package bystanders
