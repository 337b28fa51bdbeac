// Package reads is how the rooms of pkg/usercluster read: page by page, one large answer at a time, within what a pass may keep,
// and with errors that say what was tried and what the API server said to it, in words that stay the same from one attempt to the
// next.
//
// It may import pkg/observation and Kubernetes clients. It never makes a client, never says what an object means, and never puts
// an address or a credential into an error.
package reads
