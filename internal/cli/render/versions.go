package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

const versionsLong = `Show which releases of CCM and CSI driver the catalogue has for each minor of Kubernetes, and
which operations are refused there. It reads no cluster.

What is refused is written as the condition of the clusters that it is about, if it is not any, and the operations:

  in-tree    its migration has not started
  migrating  from its start until the in-tree configuration is removed
  external   its migration is done, or it was created with the feature

  create     make a Cluster; an existing one that is to migrate is made with the feature off
  upgrade    go to this minor; skip and downgrade are kinds of it, patch stays within the minor
  migrate    switch the feature on

Exit codes: 0 fine; 2 wrong flags or arguments.`

// Versions shows the catalogue.
func Versions() *cobra.Command {
	var output, name string
	command := &cobra.Command{
		Use: "versions --provider NAME", Short: "Show which releases a provider has for each minor of Kubernetes.", Long: versionsLong,
		Example: "  ccm-migration-controller versions --provider vsphere\n  ccm-migration-controller versions --provider aws -o json",
		Args:    terminal.UsageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			profile, err := lookup(name)
			if err != nil {
				return err
			}
			table := versions.TableOf(name, profile)
			return terminal.Write(
				command.OutOrStdout(),
				output,
				table,
				func(w io.Writer) error { return writeTable(w, profile.Describe().Title, table) },
			)
		},
	}
	command.Flags().StringVar(&name, "provider", "", "provider, as in spec.cloud.providerName")
	terminal.BindFormat(command.Flags(), &output)
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return terminal.UsageError(err) })
	return command
}

func lookup(name string) (provider.Profile, error) {
	catalogue := provider.New()
	profile, ok := catalogue.Lookup(name)
	if !ok {
		return nil, terminal.UsageError(
			fmt.Errorf("--provider %q is not in the catalogue; it has %s", name, strings.Join(catalogue.Names(), ", ")),
		)
	}
	return profile, nil
}

func writeTable(w io.Writer, title string, matrix versions.Table) error {
	inTree := title + " was never in-tree."
	if matrix.InTreeName != "" {
		inTree = fmt.Sprintf("The last Kubernetes with the in-tree provider %s is 1.%d.", matrix.InTreeName, matrix.LastInTreeMinor)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "%s\n\nKUBERNETES\tCCM\tCSI\tREFUSED\n", inTree)
	var reasons []string
	for _, row := range matrix.Minors {
		refused := make([]string, 0, len(row.Refused))
		for _, refusal := range row.Refused {
			reason := refusal.Sentence()
			reasons = add(reasons, reason)
			refused = append(refused, fmt.Sprintf("%s [%d]", refusal, slices.Index(reasons, reason)+1))
		}
		_, _ = fmt.Fprintf(
			table,
			"%s\t%s\t%s\t%s\n",
			row.Kubernetes(),
			cmp.Or(row.CCM, "-"),
			cmp.Or(row.CSI, "-"),
			cmp.Or(strings.Join(refused, "; "), "-"),
		)
	}
	for i, reason := range reasons {
		_, _ = fmt.Fprintf(table, "\n[%d] %s", i+1, reason)
	}
	_, _ = fmt.Fprint(table, "\n\nRefused for every provider:\n")
	for _, refusal := range matrix.Always {
		_, _ = fmt.Fprintf(table, "\n* %s. %s", refusal, refusal.Sentence())
	}
	_, _ = fmt.Fprintln(table)
	return table.Flush()
}

// add keeps the order and leaves out what is there.
func add(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
