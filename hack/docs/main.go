package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

const (
	conditionsFile = "api/v1alpha1/cluster_conditions.go"
	stepsFile      = "api/v1alpha1/cluster_status_types.go"
	mappingFile    = "controllers/cluster/status.go"
	handoverFile   = "docs/handover.md"
	silenceFile    = "pkg/migration/silence.go"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: docs OUT_DIR")
	}
	sources, err := read()
	if err != nil {
		return err
	}
	conditions, err := sources.conditionsDocument()
	if err != nil {
		return err
	}
	tables, err := sources.migrationDocument()
	if err != nil {
		return err
	}
	handover, err := sources.handoverDocument()
	if err != nil {
		return err
	}
	documents, err := providerDocuments()
	if err != nil {
		return err
	}
	guide, err := readme()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(args[0], "providers"), 0o755); err != nil {
		return err
	}
	maps.Copy(documents, map[string]string{
		"conditions.md": conditions, "migration.md": tables, "leader-migration.md": leaderMigrationDocument(), "handover.md": handover,
		"preflight.md":                  preflightDocument(),
		filepath.Join("..", readmeFile): guide,
	})
	for name, content := range documents {
		if err := os.WriteFile(filepath.Join(args[0], name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
