package leadermigration

import (
	"fmt"
	"slices"
)

// checkFile judges one configuration by itself.
func checkFile(c Configuration) []Violation {
	var violations []Violation
	if bad, is := BadReleasesOf(c.Version); is && c.Manager == KCM {
		violations = append(violations, c.about(failed(NotKnownBad,
			fmt.Sprintf("%s is known to be bad: %s (%s).", c, bad.Reason, bad.Source), bad.Fix)))
	}
	if !c.hasLoops() {
		violations = append(violations, c.about(failed(InTree, fmt.Sprintf("KCM %s has no cloud loops any more: 1.%d is the last that "+
			"has, so the lock holds nothing.", c.Version, lastInTreeMinor), "Take --enable-leader-migration out of KCM.")))
	}
	// A lock that is a Lease for one manager and an Endpoints for the other is two locks.
	if c.Lock.ResourceLock != Leases {
		violations = append(violations, c.about(failed(LockKind,
			fmt.Sprintf("resourceLock is %s: 1.24 and later exit with it, and it does not exclude whoever uses a Lease.",
				c.Lock.ResourceLock), "Write resourceLock: leases in all files.")))
	}
	violations = append(violations, comparedNames(c)...)
	return append(violations, knownComponents(c)...)
}

// comparedNames looks for loops that are listed by names which this version's filter never finds. A file for several
// versions lists both, so a loop is fine when one of its names is compared.
func comparedNames(c Configuration) []Violation {
	var violations []Violation
	var missed []Loop
	for _, entry := range c.Lock.Entries {
		loop, known := loopNamed(entry.Name)
		switch {
		case !known:
			v := failed(ComparedNames, fmt.Sprintf("%q is the name of no loop that a provider moves.", entry.Name),
				"Take it out unless it is a controller of your provider: what is misspelt stays under the main lock, and nothing says so.")
			v.Severity, v.Loops = SeverityWarning, []Loop{Loop(entry.Name)}
			violations = append(violations, c.about(v))
		case !c.lists(loop) && !slices.Contains(missed, loop):
			missed = append(missed, loop)
			name := RegisteredName(loop, c.Version.Minor)
			v := failed(ComparedNames, fmt.Sprintf("1.%d compares the name %s, and the lock lists only %s: the loop stays under the "+
				"main lock of each manager.", c.Version.Minor, name, entry.Name),
				fmt.Sprintf("List %s, in a file of your own: the built-in default and upstream's documentation have the same fault from "+
					"1.%d on.", name, renamedMinor))
			v.Loops = []Loop{loop}
			violations = append(violations, c.about(v))
		}
	}
	return violations
}

func knownComponents(c Configuration) []Violation {
	var violations []Violation
	for _, entry := range c.Lock.Entries {
		if entry.Component == KCM || entry.Component == CCM || c.runs(entry) {
			continue
		}
		v := failed(KnownComponent, fmt.Sprintf("1.%d knows no component %q, and runs %s nowhere.",
			c.Version.Minor, entry.Component, entry.Name),
			fmt.Sprintf("Write %s or %s; from 1.%d on \"*\" means either.", KCM, CCM, WildcardMinor))
		v.Loops = []Loop{Loop(entry.Name)}
		if loop, known := loopNamed(entry.Name); known {
			v.Loops = []Loop{loop}
		}
		violations = append(violations, c.about(v))
	}
	return violations
}
