// Package program is the frame of the stand-in binaries: a cobra command that
// parses Go-style flags, ends on SIGTERM, and answers /healthz and /readyz.
//
// It imports cobra, client-go and controller-runtime's logger; it knows nothing
// of machines, and never of the product.
package program
