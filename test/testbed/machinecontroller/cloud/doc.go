// Package cloud is the machine-controller stand-in's client of simcloud: it
// makes, finds and deletes instances over HTTP and says in headers who asks.
//
// It imports the standard library only and never knows Kubernetes objects.
package cloud
