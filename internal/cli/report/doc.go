// Package report has the commands that show the status of Clusters: status, why, handover, instructions, inventory. shown.go has
// what the first two print for the dashboard. It may import everything but the other commands; it changes nothing, and says
// nothing that the status does not.
package report
