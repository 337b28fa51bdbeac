package leadermigration

import "fmt"

// Read makes a configuration of a manager's file. A file that this version does not read is a violation, and there is no
// configuration.
func Read(manager Component, version Version, file []byte) (Configuration, []Violation) {
	c := Configuration{Manager: manager, Version: version}
	if _, known := KnownMinor(version.Minor); !known {
		return c, []Violation{c.unknown()}
	}
	lock, err := Parse(file, version.Minor)
	if err != nil {
		return c, []Violation{c.about(failed(ReadableFile,
			fmt.Sprintf("%s does not start with this file: %s.", c, err), "Render one that its version reads."))}
	}
	c.Lock = &lock
	return c, nil
}

// ReadNothing makes a configuration of a manager that is armed without a file.
func ReadNothing(manager Component, version Version) (Configuration, []Violation) {
	c := Configuration{Manager: manager, Version: version}
	m, known := KnownMinor(version.Minor)
	switch {
	case !known:
		return c, []Violation{c.unknown()}
	case m.BuiltIn == nil:
		return c, []Violation{c.about(failed(ReadableFile,
			fmt.Sprintf("%s does not start without a file.", c), "Set --leader-migration-config."))}
	}
	c.Lock = m.BuiltIn
	return c, nil
}

func (c Configuration) unknown() Violation {
	return c.about(failed(KnownVersion, unknownMinor(c.Version.Minor).Error()+".", "Use a newer release of this program, or "+
		"leave the release out."))
}
