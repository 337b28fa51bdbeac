package handover

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// A document has a generated part for each kind of run, between marks.
func marks(random bool) (begin, end string) {
	kind := "scenarios"
	if random {
		kind = "random"
	}
	return "<!-- measured: " + kind + " -->", "<!-- /measured: " + kind + " -->"
}

// WriteDocument replaces the generated part of a document by what reports say. A scenario that was measured again stands
// there as it was the last time; what each run found is said of each.
func WriteDocument(path string, dirs ...string) error {
	rows, runs, random := []Row(nil), []string(nil), false
	for _, dir := range dirs {
		measured, conditions, err := ReadReport(dir)
		if err != nil {
			return err
		}
		rows, runs, random = replaced(rows, measured), append(runs, intro(measured, conditions)), conditions.Random
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := marks(random)
	before, rest, began := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !began || !ended {
		return fmt.Errorf("%s has no lines %s and %s", path, begin, end)
	}
	body := scenarioTable(rows)
	if random {
		body = summary(rows)
	}
	text := before + begin + "\n" + strings.Join(runs, "\nThen ") + "\n\n" + body + end + after
	return os.WriteFile(path, []byte(text), 0o644)
}

// replaced has the later rows in the place of the earlier ones of their scenarios.
func replaced(rows, later []Row) []Row {
	for _, row := range later {
		if at := slices.IndexFunc(rows, func(earlier Row) bool { return earlier.Scenario == row.Scenario }); at >= 0 {
			rows[at] = row
		} else {
			rows = append(rows, row)
		}
	}
	return rows
}

func intro(rows []Row, conditions Conditions) string {
	unmet := 0
	for _, row := range rows {
		if len(row.Unmet) > 0 {
			unmet++
		}
	}
	return fmt.Sprintf(
		"`%s` of commit %s on %s, with %d processors and %d user clusters at once: %d "+
			"hand-overs in %.0f minutes, seed %d; %d not as expected.",
		conditions.Command,
		conditions.Commit,
		conditions.Started.UTC().Format("2006-01-02"),
		conditions.Processors,
		conditions.Beside,
		len(rows),
		conditions.Seconds/60,
		conditions.Seed,
		unmet,
	)
}

func markdown(lines [][]string) string {
	var table strings.Builder
	for i, cells := range lines {
		table.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			table.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		}
	}
	return table.String()
}

// scenarioTable has a line for each scenario, and under it why some have no limit.
func scenarioTable(rows []Row) string {
	lines, why := [][]string{headings()}, map[string][]string{}
	for _, row := range rows {
		lines = append(lines, cells(row))
		if row.WhyNoBar != "" {
			why[row.WhyNoBar] = append(why[row.WhyNoBar], "`"+row.Scenario+"`")
		}
	}
	var text strings.Builder
	text.WriteString(markdown(lines))
	if len(why) > 0 {
		text.WriteString("\nWhy some gaps have no limit:\n\n")
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		text.WriteString("* " + reason + ": " + strings.Join(why[reason], ", ") + ".\n")
	}
	return text.String()
}

// summary has a line for each protocol and each kind of disturbance.
func summary(rows []Row) string {
	groups := map[string][]Row{}
	for _, row := range rows {
		key := row.Protocol + "|" + kindOf(row.Scenario)
		groups[key] = append(groups[key], row)
	}
	lines := [][]string{
		{
			"protocol",
			"disturbed by",
			"hand-overs",
			"as expected",
			"gap: median",
			"gap: longest",
			"overlaps",
			"load balancers recreated",
			"Nodes deleted",
		},
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		lines = append(lines, summarized(key, groups[key]))
	}
	return markdown(append(lines, summarized("all|", rows)))
}

// kindOf is the end of a random scenario's name.
func kindOf(name string) string {
	_, kind, _ := strings.Cut(strings.TrimPrefix(name, "random-"), "-")
	return kind
}

func summarized(key string, rows []Row) []string {
	protocol, kind, _ := strings.Cut(key, "|")
	expected, overlaps, recreated, deleted := 0, 0, 0, 0
	var gaps []float64
	for _, row := range rows {
		if len(row.Unmet) == 0 {
			expected++
		}
		overlaps, recreated, deleted = overlaps+row.Overlaps, recreated+row.LoadBalancersRecreated, deleted+row.NodesDeleted
		if row.GapSeconds != nil {
			gaps = append(gaps, *row.GapSeconds)
		}
	}
	median, longest := "-", "-"
	if slices.Sort(gaps); len(gaps) > 0 {
		median, longest = seconds(&gaps[len(gaps)/2]), seconds(&gaps[len(gaps)-1])
	}
	return []string{
		cmp.Or(
			protocol,
			"-",
		),
		kind,
		fmt.Sprint(len(rows)),
		fmt.Sprint(expected),
		median,
		longest,
		fmt.Sprint(overlaps),
		fmt.Sprint(recreated),
		fmt.Sprint(deleted),
	}
}
