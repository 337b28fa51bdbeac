// Package supportbundle has the command that writes one archive for a maintainer: objects, logs, metrics, and what the other
// commands print. It may import everything but the other commands, which it calls by their command lines. It never writes a value
// of a Secret: redact.go takes out what looks like one, and scan.go then looks for the values themselves in the finished archive.
package supportbundle
