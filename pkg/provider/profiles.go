package provider

import (
	"fmt"
	"strings"
	"sync"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/contents"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/overlay"
)

// contentsOf a provider, rendered once: they do not change while we run.
func (c *Catalogue) contentsOf(name string, profile Profile) contents.Contents {
	once, _ := c.contents.LoadOrStore(name, sync.OnceValue(func() contents.Contents { return contents.Of(profile) }))
	return once.(func() contents.Contents)()
}

// Overlay lays a ProviderProfile over the addons of a cluster. When anything in it cannot be used, nothing of it is: the
// addons are empty then, and the problems are sentences that say what to do.
func (c *Catalogue) Overlay(addons manifest.Addons, spec ucv1.ProviderProfileSpec, version string) (manifest.Addons, []string) {
	problems := c.OverlayProblems(spec)
	minor, err := manifest.Minor(version)
	if err != nil {
		problems = append(problems, err.Error()+".")
	}
	if len(problems) > 0 {
		return manifest.Addons{}, problems
	}
	laid, err := overlay.Lay(addons, spec, minor)
	if err != nil {
		return manifest.Addons{}, []string{err.Error() + "."}
	}
	return laid, nil
}

// OverlayProblems are sentences about what cannot be used in a ProviderProfile, and what to do.
func (c *Catalogue) OverlayProblems(spec ucv1.ProviderProfileSpec) []string {
	profile, found := c.Lookup(spec.ProviderName)
	if !found {
		return []string{fmt.Sprintf("spec.providerName: provider %s is not in the catalogue, which has %s.",
			spec.ProviderName, strings.Join(c.Names(), ", "))}
	}
	return overlay.Problems(spec, c.contentsOf(spec.ProviderName, profile), profile.Describe().Broken)
}
