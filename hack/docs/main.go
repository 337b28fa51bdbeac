package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const conditionsFile = "api/v1alpha1/cluster_conditions.go"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: docs OUTPUT_ROOT")
	}
	sources, err := read()
	if err != nil {
		return err
	}
	documents, err := providerDocuments()
	if err != nil {
		return err
	}
	if documents["docs/conditions.md"], err = sources.conditionsDocument(); err != nil {
		return err
	}
	written, err := pages()
	if err != nil {
		return err
	}
	for path, tables := range written {
		if documents[path], err = filled(path, tables); err != nil {
			return err
		}
	}
	for path, content := range documents {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(args[0], path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[0], path), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
