package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const folder = "config/grafana"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: dashboards OUTPUT_ROOT")
	}
	if err := os.MkdirAll(filepath.Join(args[0], folder), 0o755); err != nil {
		return err
	}
	for name, dashboard := range map[string]dashboard{"fleet": fleet(), "cluster": cluster(), "controller": controller()} {
		text := bytes.Buffer{}
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(dashboard); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[0], folder, name+".json"), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
