// Package gcfg reads the INI files of the in-tree cloud providers as these do, and writes what they read again:
// https://pkg.go.dev/gopkg.in/gcfg.v1#hdr-Syntax_description
//
// Which sections and keys there are is for a provider to know. No problem that it names quotes the file: a line that is not
// understood may hold a credential.
//
// It imports the standard library only. It never reads a file itself.
package gcfg
