package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

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

// bench has what all mutants are tested with.
type bench struct {
	root, dir string
	// batches are the tests of each package, in the order in which they are run. They are run without a mutant when
	// they are asked for: the quick tests of one package often spare the long ones of the next.
	batches map[string]func() ([]batch, error)
}

// testAll compiles all mutants and tests each.
func testAll(ctx context.Context, root string, some []mutant, parallel int) ([]result, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find the root: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the mutants: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	results := make([]result, len(some))
	breakages := findAll(root, some, results)
	folders := foldersOf(some)
	started := time.Now()
	refused, err := buildTests(ctx, root, dir, breakages, folders)
	if err != nil {
		return nil, err
	}
	for number, why := range refused {
		results[number-1] = result{broken, "does not compile: " + why}
	}
	fmt.Fprintf(os.Stderr, "compiled in %s\n", time.Since(started).Round(time.Second))
	b := &bench{root: root, dir: dir, batches: map[string]func() ([]batch, error){}}
	for _, folder := range folders {
		b.batches[folder] = sync.OnceValues(func() ([]batch, error) { return b.baseline(ctx, folder) })
	}
	b.each(ctx, some, results, parallel)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted: %w", ctx.Err())
	}
	return results, nil
}

// findAll returns what each mutant breaks, by its number: its place in the list, from 1.
func findAll(root string, some []mutant, results []result) map[int][]breakage {
	all := newPackages(root)
	found := map[int][]breakage{}
	for i, m := range some {
		breakages, err := m.find(all)
		if err != nil {
			results[i] = result{broken, err.Error()}
			continue
		}
		found[i+1] = breakages
	}
	return found
}

func foldersOf(some []mutant) []string {
	var folders []string
	for _, m := range some {
		folders = append(folders, m.packages...)
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// each tests those that have no result yet.
func (b *bench) each(ctx context.Context, some []mutant, results []result, parallel int) {
	slots := make(chan struct{}, max(1, parallel))
	var wait sync.WaitGroup
	for i, m := range some {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			started := time.Now()
			if results[i].verdict == "" {
				results[i] = b.test(ctx, i+1, m)
			}
			// The table comes when the last one is done.
			fmt.Fprintf(os.Stderr, "%d of %d: %s: %s in %s\n",
				i+1, len(some), m.name, results[i].verdict, time.Since(started).Round(100*time.Millisecond))
		})
	}
	wait.Wait()
}

// test runs the tests of the mutant's packages until one fails.
func (b *bench) test(ctx context.Context, number int, m mutant) result {
	for _, folder := range m.packages {
		batches, err := b.batches[folder]()
		if err != nil {
			return result{broken, err.Error()}
		}
		for _, batch := range batches {
			output, err := b.runTests(ctx, folder, number, batch.pattern())
			if ctx.Err() != nil {
				return result{broken, ctx.Err().Error()}
			}
			if err != nil {
				return judge(folder, output, err)
			}
		}
	}
	return result{survived, "by " + strings.Join(m.packages, ", ")}
}

// judge what ended with an error: what a test did not fail, as one that ran out of memory, proves nothing.
func judge(folder, output string, err error) result {
	test := failedTest(output)
	if test == "" {
		return result{broken, fmt.Sprintf("the tests of %s ended, and none failed: %v", folder, err)}
	}
	return result{killed, filepath.Base(folder) + "." + test}
}

// baseline shows that the tests of a package pass when no mutant is active: else a failure would prove nothing. It
// measures them, too.
func (b *bench) baseline(ctx context.Context, folder string) ([]batch, error) {
	started := time.Now()
	output, err := b.runTests(ctx, folder, 0, ".")
	if err != nil {
		fmt.Fprintln(os.Stderr, lastOf(output))
		return nil, fmt.Errorf(
			"the tests of %s fail without any mutant: %s: %w",
			folder,
			cmp.Or(failedTest(output), "outside any test"),
			err,
		)
	}
	fmt.Fprintf(os.Stderr, "%s without a mutant: passed in %s\n", folder, time.Since(started).Round(time.Second))
	return batches(durations(output)), nil
}

func (b *bench) runTests(ctx context.Context, folder string, number int, pattern string) (string, error) {
	command := exec.CommandContext(ctx, binaryOf(b.dir, folder),
		"-test.short", "-test.failfast", "-test.v", "-test.timeout=10m", "-test.run="+pattern)
	command.Dir = filepath.Join(b.root, folder)
	command.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	return output.String(), err
}

// lastOf is the end of an output, where the tests say what failed.
func lastOf(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
