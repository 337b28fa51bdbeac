// Package dashboard tests the command dashboard in Chromium, over an API server with the fleets that status is tested with: what
// it looks like, that axe-core finds nothing serious, the keyboard, changes that come without a reload, and 5,000 Clusters; and
// over a testbed, in which a cluster migrates. It is a module of its own, because nothing else of the project needs chromedp. It
// may import everything. It never measures time to pass or fail.
package dashboard
