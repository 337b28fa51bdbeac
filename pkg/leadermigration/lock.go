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
