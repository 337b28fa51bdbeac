package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
)

func main() {
	only := flag.String("run", "", "run only mutants whose rule or name contains this")
	root := flag.String("root", ".", "root of the repository")
	parallel := flag.Int("parallel", 2, "mutants at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *root, *only, *parallel)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run tests the chosen mutants, prints the table, and returns an error unless all were killed.
func run(ctx context.Context, root, only string, parallel int) error {
	var chosen []mutant
	for _, m := range mutants() {
		if strings.Contains(m.rule+" "+m.name, only) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant contains %q", only)
	}
	results := testAll(ctx, root, chosen, parallel)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "RULE\tMUTANT\tRESULT\tKILLED BY")
	bad := 0
	for i, result := range results {
		if result.verdict != killed {
			bad++
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", chosen[i].rule, chosen[i].name, result.verdict, result.detail)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d mutants were not killed: add the test that each needs", bad, len(chosen))
	}
	fmt.Printf("%d mutants, all killed\n", len(chosen))
	return nil
}
