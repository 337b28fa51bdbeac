package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/registries"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/render"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

// platform that every image has to have: control planes and Nodes of each provider may run on it.
const platform = "linux/amd64"

// The exit statuses besides 0.
const (
	exitAbsent   = 1
	exitNotAsked = 3
)

func main() {
	command := &cobra.Command{
		Use: "images", Short: "Ask the registries for every image of the catalogue.", SilenceUsage: true, SilenceErrors: true,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return run(command.Context(), terminal.Output{Writer: command.OutOrStdout()}, provider.New(), registries.New().Ask)
		},
	}
	err := command.Execute()
	if err != nil && !errors.Is(err, errNotGood) {
		fmt.Fprintln(os.Stderr, "images:", err)
	}
	os.Exit(terminal.ExitCode(err))
}

// errNotGood ends the command with a failure after everything was said.
var errNotGood = errors.New("not good")

func run(
	ctx context.Context, out io.Writer, catalogue *provider.Catalogue, ask func(context.Context, []string) []registries.Answer,
) error {
	images, err := imagesOf(catalogue)
	if err != nil {
		return err
	}
	return report(out, ask(ctx, images))
}

// imagesOf the catalogue, each once, sorted.
func imagesOf(catalogue *provider.Catalogue) ([]string, error) {
	var images []string
	for _, name := range catalogue.Names() {
		if name == simcloud.Name {
			continue
		}
		profile, _ := catalogue.Lookup(name)
		for _, row := range versions.Matrix(profile) {
			if row.Problem != "" {
				continue
			}
			more, err := render.Images(profile, row.Kubernetes())
			if err != nil {
				return nil, fmt.Errorf("provider %s, Kubernetes %s: %w", name, row.Kubernetes(), err)
			}
			images = append(images, more...)
		}
	}
	slices.Sort(images)
	return slices.Compact(images), nil
}

// report ends with the counts, so that they are the last thing that is said.
func report(out io.Writer, answers []registries.Answer) error {
	var ok, absent, notAsked int
	for _, answer := range answers {
		manifest, known := answer.Manifest.Get()
		verdict, text := "ok", answer.Pinned()
		switch lacking := len(manifest.Platforms) > 0 && !slices.Contains(manifest.Platforms, platform); {
		case known && !lacking:
			ok++
		case known:
			absent++
			verdict, text = "absent", fmt.Sprintf("%s: its index has no %s.", answer.Image, platform)
		case answer.Manifest.IsAbsent():
			absent++
			verdict, text = "absent", answer.Image+": "+answer.Problem()
		default:
			notAsked++
			verdict, text = "could not ask", answer.Image+": "+answer.Problem()
		}
		_, _ = fmt.Fprintf(out, "%-13s  %s\n", verdict, text)
	}
	_, _ = fmt.Fprintf(out, "%d images: %d ok, %d absent, %d could not be asked for\n", len(answers), ok, absent, notAsked)
	switch {
	case absent > 0:
		return terminal.WithCode(errNotGood, exitAbsent)
	case notAsked > 0:
		return terminal.WithCode(errNotGood, exitNotAsked)
	}
	return nil
}
