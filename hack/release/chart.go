package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

const chartFolder = "charts/" + program

// chart is packed by Helm from a copy whose values name the image, and whose files are of the commit's time.
func (r *release) chart(ctx context.Context) error {
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	folder := filepath.Join(work, program)
	if err := os.CopyFS(folder, os.DirFS(chartFolder)); err != nil {
		return err
	}
	if err := r.nameImage(filepath.Join(folder, "values.yaml")); err != nil {
		return err
	}
	if err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, r.made, r.made)
	}); err != nil {
		return err
	}
	_, err = output(ctx, nil, "go", "tool", "-modfile=hack/tools/helm/go.mod", "helm", "package", folder,
		"--version="+strings.TrimPrefix(r.version, "v"), "--app-version="+r.version, "--destination="+r.out)
	return err
}

// nameImage in the values, whose comments stay. The tag is the version of the program.
func (r *release) nameImage(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	image, err := yaml.Marshal(r.image)
	if err != nil {
		return err
	}
	text := strings.Replace(string(content), "  repository: "+program+"\n", "  repository: "+string(image), 1)
	return os.WriteFile(file, []byte(text), 0o644)
}
