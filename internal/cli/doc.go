// Package cli is the command line: it puts the commands together, each family of them a package below. It may import
// everything; nothing imports it but main. It and the packages below are the only production packages that may look at the real
// clock.
package cli
