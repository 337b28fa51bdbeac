package provider

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// Facts are what deciding needs to know of a provider, with what its description has and what the version rules refuse.
func (c *Catalogue) Facts(name, version string) (observation.Provider, bool) {
	profile, ok := c.Lookup(name)
	if !ok {
		return observation.Provider{}, false
	}
	facts, description := profile.Facts(version), profile.Describe()
	// KCM may be of the minor before (docs/handover.md, AcrossMinors), and is upgraded when these are gone.
	before := fmt.Sprintf("1.%d.0", observation.MinorOf(version)-1)
	facts.RetiredGates = slices.Concat(facts.RetiredGates, profile.Facts(before).RetiredGates)
	slices.Sort(facts.RetiredGates)
	facts.RetiredGates = slices.Compact(facts.RetiredGates)
	facts.ProviderIDForm = description.ProviderID
	if tree := description.InTree; tree != nil {
		facts.InTreePlugins, facts.Registries = slices.Sorted(maps.Keys(tree.Plugins)), tree.Registries
	}
	as := func(condition manifest.Condition) *versions.State {
		return &versions.State{Provider: profile, Version: version, Condition: condition}
	}
	facts.MigrationProblem = versions.Sentences(versions.Judge(as(manifest.WhileInTree), as(manifest.WhileMigrating)))
	facts.VersionProblem = versions.Sentences(versions.Judge(nil, as(manifest.WhileExternal)))
	next := as(manifest.WhileExternal)
	next.Version = fmt.Sprintf("1.%d.99", observation.MinorOf(version)+1)
	facts.NextVersionProblem = versions.Sentences(versions.Judge(nil, next))
	return facts, true
}
