// Package conformance says whether the status of a Cluster keeps its promises: the verdict of kstatus, the conditions
// that apply to the cluster's origin, declared reasons, messages, and bounds. Every test that reconciles a Cluster may
// ask it, after any pass. It reads the API package's source for what is declared there; it never talks to an API
// server, and it knows no scenario: what a test expects of its own story, the test says itself.
package conformance
