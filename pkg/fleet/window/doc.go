// Package window says when Clusters may start: it compiles the windows and exclusions of a fleet, and looks at them at one time.
//
// A schedule is the one of a CronJob: the parser is the same, and a day has to match day of month and day of week, or one of the
// two where neither is "*". What differs is the clock. CronJobs lose a time that the clocks skip, and run twice at one that comes
// twice. Here a time opens the window at the first instant at which the clocks show it or a later one: at the end of the gap, or
// the first of the two times. The window is then open for the seconds that it names, however the clocks change meanwhile.
// Openings that overlap or touch are one.
//
//	doc.go       this
//	window.go    Window: one window, and whether it is open
//	schedule.go  the days and times of a schedule
//	zone.go      the instants of wall times
//	calendar.go  Calendar: all windows and exclusions, and what they come to for one Cluster
//
// It imports api, the parser of github.com/robfig/cron/v3, and the standard library. Zones are those of the machine, which its
// owner updates, and where it has none, those of the binary. It has no client, context, clock or log: now is an argument. It
// knows no Cluster and no selector: its callers say which windows select one.
package window
