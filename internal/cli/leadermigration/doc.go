// Package leadermigration has the commands about the migration lock, which serve people who migrate without this controller. It
// may import everything but the other commands; it asks no cluster.
package leadermigration
