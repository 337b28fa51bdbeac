package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

const versionsLong = `Show which releases of CCM and CSI driver the catalogue has for each minor of Kubernetes, and which operations are
refused there. It reads no cluster.

Exit codes: 0 fine; 2 wrong flags or arguments.`

// versionsCommand shows the catalogue.
func versionsCommand() *cobra.Command {
	var output, name string
	command := &cobra.Command{
		Use: "versions --provider NAME", Short: "Show which releases a provider has for each minor of Kubernetes.", Long: versionsLong,
		Example: "  ccm-migration-controller versions --provider vsphere\n  ccm-migration-controller versions --provider aws -o json",
		Args:    usageArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			profile, err := lookup(name)
			if err != nil {
				return err
			}
			matrix := provider.Matrix(profile)
			return write(command.OutOrStdout(), output, matrix, func(w io.Writer) error { return writeMatrix(w, profile.Describe(), matrix) })
		},
	}
	command.Flags().StringVar(&name, "provider", "", "provider, as in spec.cloud.providerName")
	command.Flags().StringVarP(&output, "output", "o", "text", outputFlag)
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError(err) })
	return command
}

func lookup(name string) (provider.Profile, error) {
	catalogue := provider.New()
	profile, ok := catalogue.Lookup(name)
	if !ok {
		return nil, usageError(fmt.Errorf("--provider %q is not in the catalogue; it has %s", name, strings.Join(catalogue.Names(), ", ")))
	}
	return profile, nil
}

func writeMatrix(w io.Writer, description provider.Description, matrix []provider.Versions) error {
	inTree := description.Title + " was never in-tree."
	if tree := description.InTree; tree != nil {
		inTree = fmt.Sprintf("The last Kubernetes with the in-tree provider %s is 1.%d.", tree.Name, tree.LastMinor)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "%s\n\nKUBERNETES\tCCM\tCSI\tREFUSED\n", inTree)
	var reasons []string
	for _, row := range matrix {
		refused := make([]string, 0, len(row.Refused))
		for _, refusal := range row.Refused {
			reason := strings.TrimSpace(refusal.Reason + " " + refusal.Link)
			reasons = add(reasons, reason)
			refused = append(refused, fmt.Sprintf("%s [%d]", refusal, slices.Index(reasons, reason)+1))
		}
		if row.Problem != "" {
			refused = append([]string{"all: not in the catalogue"}, refused...)
		}
		_, _ = fmt.Fprintf(table, "1.%d\t%s\t%s\t%s\n", row.Minor, cmp.Or(row.CCM, "-"), cmp.Or(row.CSI, "-"), cmp.Or(strings.Join(refused, ", "), "-"))
	}
	for i, reason := range reasons {
		_, _ = fmt.Fprintf(table, "\n[%d] %s", i+1, reason)
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
