// Package applied has the addons as they are applied: whether a set is as wanted and healthy, which objects of others it may take
// over, and what is deleted.
//
// It imports the rooms pass and start of package migration. Who leads is none of its questions.
package applied
