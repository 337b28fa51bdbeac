// Package dashboard has the command dashboard: a page of the fleet and of each Cluster, served on loopback with the rights of the
// kubeconfig. It shows what status, why, fleet status and inventory print, made by their own code, and decides nothing.
//
//	doc.go        this
//	command.go    the command, and its server
//	address.go    which addresses are loopback
//	door.go       who may come in: Host, token, session, and the headers of every answer
//	source.go     what is read of the management cluster, and what could not be looked at
//	streams.go    whether the watches of it are open
//	notices.go    what the page says of that
//	view.go       what is made of what was read
//	pages.go      the pages; pages/ has their templates, style, and script
//	filter.go     which Clusters of a fleet are listed
//	runbook.go    runbooks as HTML
//	events.go     tells open pages that something changed
//
// It may import the reports of other commands: it alone. It never reads a Secret, writes to a cluster, or listens where another
// machine could connect.
package dashboard
