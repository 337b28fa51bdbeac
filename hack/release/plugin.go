package main

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

const home = "https://github.com/ccm-migration/ccm-migration-controller"

// plugin writes the manifest of kubectl's plugin manager: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
func (r *release) plugin() error {
	var platforms []map[string]any
	for _, platform := range r.platforms {
		name := r.archiveName(platform)
		sum, err := r.checksum(name)
		if err != nil {
			return err
		}
		system, processor, _ := strings.Cut(platform, "/")
		platforms = append(platforms, map[string]any{
			"selector": map[string]any{"matchLabels": map[string]string{"os": system, "arch": processor}},
			"uri":      fmt.Sprintf("%s/releases/download/%s/%s", home, r.version, name), "sha256": sum, "bin": program,
		})
	}
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin",
		"metadata": map[string]string{"name": "ccm-migration"},
		"spec": map[string]any{
			"version": r.version, "homepage": home, "platforms": platforms,
			"shortDescription": "Migrate clusters to external cloud providers",
			"description": "Shows how far Clusters and FleetMigrations of ccm-migration-controller are, what they wait for, what\n" +
				"a migration would do, and which command to run next.\n",
		},
	})
	if err != nil {
		return err
	}
	return r.write("ccm-migration.yaml", content)
}
