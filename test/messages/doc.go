// Package messages reads messages as people do, so that tests can ask whether what a message names is there as data, too. Nothing
// but tests may import it: programs have the data.
package messages
