package leadermigration

import (
	"bytes"
	"fmt"
	"slices"
)

// Leases is the kind of object that a lock is; Endpoints is one that client-go dropped in 1.24
// (https://github.com/kubernetes/client-go/blob/v0.24.17/tools/leaderelection/resourcelock/interface.go#L192).
const (
	Leases    = "leases"
	Endpoints = "endpoints"
)

// Lock is a migration lock: what a LeaderMigrationConfiguration says.
type Lock struct {
	// APIVersion that it was read from, or is written as; empty for a built-in default.
	APIVersion string
	// Name of the Lease, in the namespace of the manager's main lock.
	Name string
	// ResourceLock is Leases or Endpoints.
	ResourceLock string
	Entries      []Entry
}

// Entry puts a controller under the lock.
type Entry struct {
	// Name of the controller; the managers compare it with registered names, letter by letter, and ignore others.
	Name string
	// Component that may run it: one of the managers, or Either.
	Component Component
}

// Marshal writes the file. Everything is quoted: a bare * is no YAML.
func (l Lock) Marshal() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "apiVersion: %s\nkind: %s\nleaderName: %q\n", l.APIVersion, kind, l.Name)
	if l.APIVersion != group+"v1" {
		fmt.Fprintf(&out, "resourceLock: %s\n", l.ResourceLock)
	}
	if len(l.Entries) == 0 {
		out.WriteString("controllerLeaders: []\n")
		return out.Bytes()
	}
	out.WriteString("controllerLeaders:\n")
	for _, entry := range l.Entries {
		fmt.Fprintf(&out, "- name: %q\n  component: %q\n", entry.Name, string(entry.Component))
	}
	return out.Bytes()
}

// Loops are those that the lock is meant to hold, whatever version compares their names, sorted.
func (l Lock) Loops() []Loop {
	var loops []Loop
	for _, entry := range l.Entries {
		if loop, ok := loopNamed(entry.Name); ok && !slices.Contains(loops, loop) {
			loops = append(loops, loop)
		}
	}
	slices.Sort(loops)
	return loops
}

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

// PlaceOf follows the filter of the managers: a loop is found by its registered name, the last entry for it wins, and one
// that is not listed stays under the main lock; a nil lock is a manager that is not armed.
// https://github.com/kubernetes/controller-manager/blob/v0.30.14/pkg/leadermigration/migrator.go
func PlaceOf(lock *Lock, manager Component, minor int, loop Loop) Place {
	m, known := KnownMinor(minor)
	if !known || manager == KCM && loop != NodeIPAMLoop && !m.KCMHasLoops {
		return Nowhere
	}
	place := MainLock
	if lock == nil {
		return place
	}
	for _, entry := range lock.Entries {
		if entry.Name != RegisteredName(loop, minor) {
			continue
		}
		place = Nowhere
		if entry.Component == manager || entry.Component == Either && m.Wildcard {
			place = MigrationLock
		}
	}
	return place
}

// lists says whether the lock has an entry that the minor's filter finds for the loop.
func (l Lock) lists(loop Loop, minor int) bool {
	return slices.ContainsFunc(l.Entries, func(entry Entry) bool { return entry.Name == RegisteredName(loop, minor) })
}
