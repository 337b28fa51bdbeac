package main

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// manifests renders the folders of config/ that someone applies, with the image of this version.
func (r *release) manifests(context.Context) error {
	for name, folder := range map[string]string{
		"install.yaml": "default", "install-self-managed.yaml": "default-self-managed", "crds.yaml": "crd",
		"usercluster-rbac.yaml": "usercluster-rbac", "usercluster-rbac-bootstrap.yaml": "usercluster-rbac-bootstrap",
	} {
		content, err := r.rendered(filepath.Join("config", folder))
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		if err := r.write(name, content); err != nil {
			return err
		}
	}
	return nil
}

// rendered is a folder of config/ as a kustomization of a user has it, who names the image.
func (r *release) rendered(folder string) ([]byte, error) {
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	resource, err := filepath.Rel(work, absolute)
	if err != nil {
		return nil, err
	}
	kustomization, err := yaml.Marshal(types.Kustomization{
		Resources: []string{resource},
		Images:    []types.Image{{Name: program, NewName: r.image, NewTag: r.version}},
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(work, "kustomization.yaml"), kustomization, 0o600); err != nil {
		return nil, err
	}
	options := &krusty.Options{Reorder: krusty.ReorderOptionLegacy, PluginConfig: types.DisabledPluginConfig()}
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), work)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}

func keys[V any](of map[string]V) iter.Seq[string] { return maps.Keys(of) }
