// Package releases is the table that every provider keeps: what runs with which minor of Kubernetes, and why there is
// nothing for the others.
//
// It imports the reading of versions only, from pkg/provider/manifest. It never knows a provider, an image or a cluster: what
// a row has is for the provider to say.
package releases
