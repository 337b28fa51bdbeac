// Package observation is the vocabulary of a pass: what was seen of both clusters, as plain data. Each fact is known, absent, or
// could not be looked at, and the zero value is the last of them.
//
// It may import the API, package slo for what was measured, and the standard library. It never reads a cluster, decides, or words
// a message. What a pass concludes from these facts is in package migration.
package observation
