// Package runbooks holds the runbooks, one file for each reason that may ask for a person, so that the program can print them
// where there is no browser, and so that its hints are theirs. Each has the sections Symptoms, Meaning, Checks and Remedy.
//
// A block of shell says in its first line where its commands run, and after a comma when they may be run at all. NAMESPACE
// and NAME are those of the Cluster in the management cluster, and in the user cluster those of the first object that the
// message names. NODE, MACHINE_NAMESPACE, MACHINE and the like are those of the first of that kind.
//
// It imports the standard library only. It never reads anything but its own files.
package runbooks
