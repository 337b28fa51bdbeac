// Package cli is the command line: it turns flags into options, wires the controllers together and runs them. It may
// import everything; nothing imports it but main. It is the only production package that may look at the real clock.
package cli
