package leadermigration

import "slices"

// Place is where a manager runs a loop.
type Place string

// The places.
const (
	// Nowhere means that the manager does not run the loop: it leaves it to the other one, or has none.
	Nowhere Place = "nowhere"
	// MainLock means that the manager runs it whenever it leads, whoever holds the migration lock.
	MainLock Place = "main lock"
	// MigrationLock means that it runs it only while it holds the migration lock.
	MigrationLock Place = "migration lock"
)

// Place follows the filter of the managers: a loop is found by its registered name, the last entry for it wins, and one
// that is not listed stays under the main lock.
// https://github.com/kubernetes/controller-manager/blob/v0.30.14/pkg/leadermigration/migrator.go
func (c Configuration) Place(loop Loop) Place {
	if _, known := KnownMinor(c.Version.Minor); !known || loop != NodeIPAMLoop && !c.hasLoops() {
		return Nowhere
	}
	place := MainLock
	if c.Lock == nil {
		return place
	}
	for _, entry := range c.Lock.Entries {
		if c.finds(entry, loop) {
			place = Nowhere
			if c.runs(entry) {
				place = MigrationLock
			}
		}
	}
	return place
}

// hasLoops says whether the manager can run cloud loops at all.
func (c Configuration) hasLoops() bool {
	m, _ := KnownMinor(c.Version.Minor)
	return c.Manager == CCM || m.KCMHasLoops
}

// finds says whether the filter of the manager finds the entry for the loop.
func (c Configuration) finds(entry Entry, loop Loop) bool {
	return entry.Name == RegisteredName(loop, c.Version.Minor)
}

// lists says whether the lock has an entry that the filter finds for the loop.
func (c Configuration) lists(loop Loop) bool {
	return slices.ContainsFunc(c.Lock.Entries, func(entry Entry) bool { return c.finds(entry, loop) })
}

// runs says whether the manager runs what the entry names under its lock.
func (c Configuration) runs(entry Entry) bool {
	return entry.Component == c.Manager || entry.Component == Either && c.Version.Minor >= WildcardMinor
}
