package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// buildTests compiles the test binaries of the packages with all mutants in them, and returns what build returns.
func buildTests(
	ctx context.Context, root, dir string, broken map[int][]breakage, folders []string,
) (map[int]string, error) {
	bin := filepath.Join(dir, "bin") + "/"
	return build(ctx, root, dir, broken, "test", append([]string{"-c", "-ldflags=-s -w", "-o", bin}, packagesIn(folders)...))
}

// packagesIn names the packages of folders for the go command.
func packagesIn(folders []string) []string {
	var names []string
	for _, folder := range folders {
		names = append(names, "./"+folder)
	}
	return names
}

// build runs a verb of go with all mutants in its packages. What is in the way of the compiler is taken out and
// returned by its number, with what the compiler said.
func build(
	ctx context.Context, root, dir string, broken map[int][]breakage, verb string, arguments []string,
) (map[int]string, error) {
	refused := map[int]string{}
	for {
		overlay, err := writeOverlay(dir, woven(broken))
		if err != nil {
			return nil, err
		}
		command := exec.CommandContext(ctx, "go", append([]string{verb, "-overlay", overlay}, arguments...)...)
		command.Dir = root
		output, err := command.CombinedOutput()
		if err == nil {
			return refused, nil
		}
		found := refusals(string(output))
		if len(found) == 0 {
			return nil, fmt.Errorf("compile the tests: %w: %s", err, output)
		}
		maps.Copy(refused, found)
		maps.DeleteFunc(broken, func(number int, _ []breakage) bool { return found[number] != "" })
	}
}

// refusals reads the errors that the compiler found in broken copies.
func refusals(output string) map[int]string {
	found := map[int]string{}
	line := regexp.MustCompile(`/mutant/(\d+)\.go:\d+(?::\d+)?: (.*)`)
	for _, match := range line.FindAllStringSubmatch(output, -1) {
		number, err := strconv.Atoi(match[1])
		if err == nil && found[number] == "" {
			found[number] = match[2]
		}
	}
	return found
}

// writeOverlay writes the changed files and the overlay that puts them in the originals' places: the work tree is
// never written.
func writeOverlay(dir string, files map[string]string) (string, error) {
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(files)) {
		changed := filepath.Join(dir, strconv.Itoa(i)+".go")
		if err := os.WriteFile(changed, []byte(files[path]), 0o600); err != nil {
			return "", fmt.Errorf("write the changed copy of %s: %w", path, err)
		}
		replace[path] = changed
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("make the overlay: %w", err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay: %w", err)
	}
	return overlay, nil
}

// binaryOf is where `go test -c` puts the tests of a package.
func binaryOf(dir, folder string) string {
	return filepath.Join(dir, "bin", folder[strings.LastIndex(folder, "/")+1:]+".test")
}
