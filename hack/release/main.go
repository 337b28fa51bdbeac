package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
)

const program = "ccm-migration-controller"

// release is what one is made of.
type release struct {
	version, image, out string
	platforms           []string
	// made is when the commit was: every file says so.
	made time.Time
}

func main() {
	if err := run(signals.SetupSignalHandler(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r, platforms, image := release{}, "", false
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "tag of the release")
	flags.StringVar(&r.image, "image", program, "repository of the manager's image, without a tag")
	flags.StringVar(&r.out, "out", "", "a new folder")
	flags.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "of the programs")
	flags.BoolVar(&image, "oci-layout", false, "build the image, too, as an OCI layout in OUT-image")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.platforms = strings.Split(platforms, ",")
	if err := r.check(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.out), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(r.out, 0o755); err != nil {
		return err
	}
	steps := []func(context.Context) error{r.programs, r.manifests, r.chart, r.materials, r.notes, r.checksums}
	if image {
		steps = append(steps, r.layout)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// check refuses what would not be the release that it says.
func (r *release) check(ctx context.Context) error {
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`).MatchString(r.version) || r.out == "" {
		return errors.New("usage: release --version=v0.1.0 --image=REPOSITORY --out=DIR")
	}
	tags, err := output(ctx, nil, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(tags), r.version) {
		return fmt.Errorf("the checkout is not tag %s: run 'git tag %s', or check it out", r.version, r.version)
	}
	changes, err := output(ctx, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the checkout has changes that are in no commit:\n%s", changes)
	}
	seconds, err := output(ctx, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	made, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	r.made = time.Unix(made, 0).UTC()
	return err
}
