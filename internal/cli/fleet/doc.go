// Package fleet has the commands about FleetMigrations: fleet status, why, plan, gate, and failures. Each reads the Clusters,
// FleetMigrations and Namespaces of the management cluster, and makes the decision that the manager makes of them (pkg/fleet), so
// that what is printed is as new as what was read, whether a manager runs or not.
//
//	doc.go          this
//	command.go      the group, and what its commands have in common
//	read.go         what is read
//	view.go         what is decided of it
//	words.go        times, counts, and other pieces of text
//	commands.go     the commands that are given to a person
//	status*.go      fleet status
//	tasks*.go       who has to do what
//	why*.go         fleet why; meanings*.go has a sentence for each obstacle
//	plan*.go        fleet plan
//	gate.go         fleet gate
//	failures.go     fleet failures
//	shown.go        fleet status for the dashboard
//
// It may import everything but the other commands. It changes nothing: it prints the commands that would. What it prints is a
// function of what was read and of the time.
package fleet
