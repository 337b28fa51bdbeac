package provider

import (
	"maps"
	"slices"
	"sync"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/aws"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/azure"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/gcp"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/hetzner"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/openstack"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/vsphere"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// Profile is a provider that the catalogue knows completely.
type Profile interface {
	Described
	Rendered
}

// Described is what a provider says of itself.
type Described interface {
	// Describe says what does not depend on a cluster.
	Describe() manifest.Description
	// Release says which releases run with a version of Kubernetes, or why none does.
	Release(version string) (manifest.Release, error)
	// Facts are what deciding needs to know; version is one like 1.25.16 or v1.25.16.
	Facts(version string) observation.Provider
	// Example is a cloud configuration that is complete; its values are made up.
	Example() map[string][]byte
}

// Rendered is what is made of a provider for a cluster.
type Rendered interface {
	// CloudConfigProblem is empty, or a sentence that names the keys that are missing or unusable, never their values.
	CloudConfigProblem(data map[string][]byte) string
	// Render makes the objects of a cluster. The same input gives the same output.
	Render(in manifest.RenderInput) (manifest.Addons, error)
	// Identity of the CCM.
	Identity() manifest.Identity
}

// CloudConfigProblem is what is wrong with a cloud configuration: for every CCM, or for one beside the control plane, which
// cannot take from its Node what some providers leave out.
func CloudConfigProblem(profile Profile, data map[string][]byte, besideControlPlane bool) string {
	problem := profile.CloudConfigProblem(data)
	if wary, is := profile.(interface {
		ControlPlaneProblem(data map[string][]byte) string
	}); is && problem == "" && besideControlPlane {
		return wary.ControlPlaneProblem(data)
	}
	return problem
}

// ChangedSettings of a cloud configuration that has no problem: those that do something else than in-tree, or nothing, with what
// runs with a version of Kubernetes.
func ChangedSettings(profile Profile, version string, data map[string][]byte) []observation.ChangedSetting {
	if knows, is := profile.(interface {
		ChangedSettings(version string, data map[string][]byte) []observation.ChangedSetting
	}); is {
		return knows.ChangedSettings(version, data)
	}
	return nil
}

// Catalogue is the set of providers.
type Catalogue struct {
	profiles map[string]Profile
	// contents of each provider, by its name, as functions that render it when they are first called.
	contents sync.Map
}

// New returns the built-in catalogue.
func New() *Catalogue {
	return &Catalogue{profiles: map[string]Profile{
		aws.Name:       aws.Profile{},
		azure.Name:     azure.Profile{},
		gcp.Name:       gcp.Profile{},
		hetzner.Name:   hetzner.Profile{},
		openstack.Name: openstack.Profile{},
		simcloud.Name:  simcloud.Profile{},
		vsphere.Name:   vsphere.Profile{},
	}}
}

// With is a catalogue that has one more provider.
func (c *Catalogue) With(name string, profile Profile) *Catalogue {
	more := &Catalogue{profiles: maps.Clone(c.profiles)}
	more.profiles[name] = profile
	return more
}

// Names of the providers that have a profile, sorted.
func (c *Catalogue) Names() []string {
	return slices.Sorted(maps.Keys(c.profiles))
}

// Lookup returns the profile of a provider.
func (c *Catalogue) Lookup(name string) (Profile, bool) {
	profile, ok := c.profiles[name]
	return profile, ok
}

// CanMigrate says whether an in-tree provider of that name existed, so that there is something to migrate from.
func (c *Catalogue) CanMigrate(name string) bool {
	profile, ok := c.Lookup(name)
	return ok && profile.Describe().InTree != nil
}
