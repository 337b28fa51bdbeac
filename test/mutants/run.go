package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// mutant is one deliberate fault.
type mutant struct {
	rule, name string
	file       string
	old, new   string
	packages   []string
}

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	broken   verdict = "ERROR"
)

type result struct {
	verdict verdict
	detail  string
}

func testAll(ctx context.Context, root string, chosen []mutant, parallel int) []result {
	results := make([]result, len(chosen))
	slots := make(chan struct{}, max(1, parallel))
	var wait sync.WaitGroup
	for i, m := range chosen {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			results[i] = test(ctx, root, m)
			// The table comes when the last one is done, and that may be an hour.
			fmt.Fprintf(os.Stderr, "%d of %d: %s: %s\n", i+1, len(chosen), m.name, results[i].verdict)
		})
	}
	wait.Wait()
	return results
}

// test runs the mutant's packages, those with the quick tests first, until a test of one fails.
func test(ctx context.Context, root string, m mutant) result {
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return result{broken, err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := writeOverlay(root, dir, m)
	if err != nil {
		return result{broken, err.Error()}
	}
	for _, pkg := range m.packages {
		arguments := []string{"test", "-overlay", overlay, "-short", "-failfast", "-count=1", "./" + pkg}
		command := exec.CommandContext(ctx, "go", arguments...)
		command.Dir = root
		output, err := command.CombinedOutput()
		switch {
		case err == nil:
		case strings.Contains(string(output), "[build failed]") || strings.Contains(string(output), "[setup failed]"):
			return result{broken, "does not compile: " + firstLine(string(output))}
		case ctx.Err() != nil:
			return result{broken, ctx.Err().Error()}
		default:
			return result{killed, path.Base(pkg) + "." + failedTest(string(output))}
		}
	}
	return result{survived, "by " + strings.Join(m.packages, ", ")}
}

// writeOverlay writes the changed copy of the file and the overlay that puts it in the original's place.
func writeOverlay(root, dir string, m mutant) (string, error) {
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return "", fmt.Errorf("find %s: %w", m.file, err)
	}
	changed, err := m.apply(original)
	if err != nil {
		return "", err
	}
	replacement := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(replacement, []byte(changed), 0o600); err != nil {
		return "", fmt.Errorf("write the changed copy of %s: %w", m.file, err)
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {original: replacement}})
	if err != nil {
		return "", fmt.Errorf("make the overlay of %s: %w", m.file, err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		return "", fmt.Errorf("write the overlay of %s: %w", m.file, err)
	}
	return overlay, nil
}

// apply returns the changed text; what is to be replaced has to be there exactly once.
func (m mutant) apply(original string) (string, error) {
	data, err := os.ReadFile(filepath.Clean(original))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", m.file, err)
	}
	if found := strings.Count(string(data), m.old); found != 1 {
		return "", fmt.Errorf("%s has %d times the text of mutant %q: bring the mutant up to date", m.file, found, m.name)
	}
	return strings.Replace(string(data), m.old, m.new, 1), nil
}

func failedTest(output string) string {
	for line := range strings.SplitSeq(output, "\n") {
		if _, rest, found := strings.Cut(line, "--- FAIL: "); found {
			name, _, _ := strings.Cut(rest, " ")
			return name
		}
	}
	if strings.Contains(output, "panic:") {
		return "panic"
	}
	return "failed"
}

func firstLine(output string) string {
	lines := strings.Split(output, "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return line != "" && !strings.HasPrefix(line, "#") })
	if at < 0 {
		return ""
	}
	return lines[at]
}
