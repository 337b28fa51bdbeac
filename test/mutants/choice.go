package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// choice says which mutants are run.
type choice struct {
	run      string
	fraction int
	seed     string
}

// of returns the chosen ones. Whether a mutant is drawn depends on its name and the seed alone: not on the others,
// nor on the order in which they stand.
func (c choice) of(all []mutant) ([]mutant, error) {
	if c.fraction < 1 {
		return nil, fmt.Errorf("-fraction %d: one in how many mutants is to run?", c.fraction)
	}
	var named, drawn []mutant
	for _, m := range all {
		if !strings.Contains(m.rule+" "+m.name, c.run) {
			continue
		}
		named = append(named, m)
		if c.draws(m.name) {
			drawn = append(drawn, m)
		}
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("no mutant contains %q", c.run)
	}
	return drawn, nil
}

func (c choice) draws(name string) bool {
	sum := sha256.Sum256([]byte(c.seed + "\x00" + name))
	return binary.BigEndian.Uint64(sum[:8])%uint64(c.fraction) == 0
}

func (c choice) drawn() string {
	if c.fraction == 1 {
		return ""
	}
	return fmt.Sprintf(", one in %d, drawn by seed %q", c.fraction, c.seed)
}
