package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

// versionReport is what the program was built from, as the compiler noted it. What it did not note is empty.
type versionReport struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Modified says that the checkout had changes that are in no commit.
	Modified          bool   `json:"modified,omitempty"`
	Go                string `json:"go"`
	Platform          string `json:"platform"`
	Kubernetes        string `json:"kubernetes"`
	ControllerRuntime string `json:"controllerRuntime"`
}

// newVersionReport reads what the compiler noted: https://pkg.go.dev/runtime/debug#BuildInfo
func newVersionReport(info *debug.BuildInfo) *versionReport {
	report := &versionReport{
		Version: info.Main.Version, Go: info.GoVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			report.Commit = setting.Value
		case "vcs.modified":
			report.Modified = setting.Value == "true"
		}
	}
	for _, library := range info.Deps {
		switch library.Path {
		case "k8s.io/client-go":
			report.Kubernetes = library.Version
		case "sigs.k8s.io/controller-runtime":
			report.ControllerRuntime = library.Version
		}
	}
	return report
}

func (r *versionReport) text(out io.Writer) error {
	commit := r.Commit
	if r.Modified {
		commit += ", with changes"
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"Version", r.Version}, {"Commit", commit}, {"Go", r.Go}, {"Platform", r.Platform}, {"Kubernetes libraries", r.Kubernetes},
		{"controller-runtime", r.ControllerRuntime},
	} {
		if row[1] == "" {
			row[1] = "unknown"
		}
		if _, err := fmt.Fprintf(table, "%s\t%s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return table.Flush()
}

// versionCommand says what the program was built from.
func versionCommand() *cobra.Command {
	output := ""
	command := &cobra.Command{
		Use: "version", Short: "Says what this program was built from.", Args: terminal.UsageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			info, known := debug.ReadBuildInfo()
			if !known {
				return errors.New("this program was built without modules, so its version is not known")
			}
			report := newVersionReport(info)
			return terminal.Write(command.OutOrStdout(), output, report, report.text)
		},
	}
	terminal.BindFormat(command.Flags(), &output)
	return command
}
