package main

import (
	"fmt"
	"os"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
)

const (
	markBegin = "<!-- generated: %s -->\n"
	markEnd   = "<!-- /generated -->"
)

// pages are the documents that people write, by path, with the tables that stand in them, by the name in their marks.
func pages() (map[string]map[string]string, error) {
	lines := map[string]string{}
	for _, protocol := range start.Protocols() {
		lines["lines of "+string(protocol)] = linesOf(protocol, "")
	}
	across := ucv1.AcrossMinorsLeaderMigration
	lines["lines of "+string(across)] = linesOf(ucv1.LeaderMigrationProtocol, across)
	metrics, err := metricTables()
	if err != nil {
		return nil, err
	}
	values, err := chartValues(chartFolder)
	if err != nil {
		return nil, err
	}
	return map[string]map[string]string{
		chartFolder + "/README.md": {"values": values},
		"docs/cli.md":              commandTables(),
		"docs/metrics.md":          metrics,
		"README.md":                {"providers": providerMatrix(provider.New())},
		"docs/versions.md":         {"version rules": commonVersionRules()},
		"docs/migration.md": {
			"steps of Migrating": steps(ucv1.OriginMigrating), "steps of External": steps(ucv1.OriginExternal), "steps back": stepsBack(),
		},
		"docs/handover.md":         lines,
		"docs/preflight.md":        {"checks": preflightChecks(), "input findings": inputFindings()},
		"docs/leader-migration.md": lockTables(),
	}, nil
}

// filled is a page with its tables of now.
func filled(path string, tables map[string]string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	document := string(text)
	for name, table := range tables {
		if document, err = between(document, name, table); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	return document, nil
}

// between replaces what stands between the marks of a name.
func between(text, name, content string) (string, error) {
	mark := fmt.Sprintf(markBegin, name)
	before, rest, found := strings.Cut(text, mark)
	_, after, ended := strings.Cut(rest, markEnd)
	if !found || !ended {
		return "", fmt.Errorf("no place for a generated table: %q … %q", mark, markEnd)
	}
	return before + mark + content + markEnd + after, nil
}
