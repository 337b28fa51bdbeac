package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	var chosen choice
	flag.StringVar(&chosen.run, "run", "", "run only mutants whose rule or name contains this")
	flag.IntVar(&chosen.fraction, "fraction", 1, "run one in so many mutants, which -seed draws")
	flag.StringVar(&chosen.seed, "seed", "", "draws the mutants of -fraction: the hash of a commit gives each its turn")
	list := flag.Bool("list", false, "print the rules and names of the chosen mutants, and run none")
	root := flag.String("root", ".", "root of the repository")
	parallel := flag.Int("parallel", 2, "mutants at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *root, chosen, *list, *parallel)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root string, chosen choice, list bool, parallel int) error {
	all := mutants()
	some, err := chosen.of(all)
	if err != nil {
		return err
	}
	if list {
		return printTable(os.Stdout, []string{"RULE", "MUTANT"}, some, func(int) []string { return nil })
	}
	fmt.Printf("%d of %d mutants%s\n", len(some), len(all), chosen.drawn())
	started := time.Now()
	results, err := testAll(ctx, root, some, parallel)
	if err != nil {
		return err
	}
	return report(os.Stdout, some, results, time.Since(started))
}

// report prints the table, and returns an error unless all were killed.
func report(out io.Writer, some []mutant, results []result, took time.Duration) error {
	var bad []string
	for i, result := range results {
		if result.verdict != killed {
			bad = append(bad, some[i].name)
		}
	}
	err := printTable(out, []string{"RULE", "MUTANT", "RESULT", "KILLED BY"}, some, func(number int) []string {
		return []string{string(results[number].verdict), results[number].detail}
	})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d mutants, %d killed, in %s\n", len(some), len(some)-len(bad), took.Round(time.Second))
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d mutants were not killed, add the test that each needs: %s",
			len(bad), len(some), strings.Join(bad, "; "))
	}
	return nil
}

func printTable(out io.Writer, head []string, some []mutant, more func(number int) []string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(columns []string) {
		for _, column := range columns {
			_, _ = fmt.Fprint(table, column, "\t")
		}
		_, _ = fmt.Fprintln(table)
	}
	row(head)
	for i, m := range some {
		row(append([]string{m.rule, m.name}, more(i)...))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}
