package render

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// overlaid lays the profile of a file over the addons.
func overlaid(addons manifest.Addons, path, name, version string) (manifest.Addons, error) {
	profile, err := readProfile(path)
	if err != nil {
		return manifest.Addons{}, fmt.Errorf("--profile: %w", err)
	}
	if of := profile.Spec.ProviderName; of != name {
		return manifest.Addons{}, fmt.Errorf("--profile: ProviderProfile %s is for provider %q, not for %s", profile.Name, of, name)
	}
	made, problems := provider.New().Overlay(addons, profile.Spec, version)
	if len(problems) > 0 {
		return manifest.Addons{}, fmt.Errorf(
			"--profile: ProviderProfile %s cannot be used:\n- %s",
			profile.Name,
			strings.Join(problems, "\n- "),
		)
	}
	return made, nil
}

// readProfile takes no field that it does not know, as the API server does when it is asked to be strict.
func readProfile(path string) (*ucv1.ProviderProfile, error) {
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	profile := &ucv1.ProviderProfile{}
	if err := yaml.UnmarshalStrict(content, profile); err != nil {
		return nil, fmt.Errorf("%s is not a ProviderProfile: %w", path, err)
	}
	if profile.APIVersion != ucv1.GroupVersion().String() || profile.Kind != "ProviderProfile" {
		return nil, errors.New(path + " is not the manifest of a ProviderProfile: write apiVersion " + ucv1.GroupVersion().String() +
			" and its kind")
	}
	return profile, nil
}
