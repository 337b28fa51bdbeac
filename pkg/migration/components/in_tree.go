package components

import (
	"slices"
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// InTreeRemoval takes the in-tree provider out of the arguments; nil when nothing of it is there.
func InTreeRemoval(component observation.Component, retired []string) *outcome.ArgumentChange {
	arguments := component.Arguments
	change := outcome.ArgumentChange{Target: component.Ref, Container: component.Container}
	for _, name := range []string{"cloud-provider", "cloud-config", "external-cloud-volume-plugin", "configure-cloud-routes"} {
		if value, given := arguments.Flag(name); given && value != "external" {
			change.Remove = append(change.Remove, name)
		}
	}
	if list, given := arguments.Flag("controllers"); given {
		if kept := withoutExcludedLoops(list); kept != list {
			change.Set = append(change.Set, outcome.Flag{Name: "--controllers", Value: kept})
		}
	}
	if given, ok := arguments.Flag("feature-gates"); ok {
		switch kept := withoutInTreeGates(given, retired); {
		case kept == "":
			change.Remove = append(change.Remove, "feature-gates")
		case kept != given:
			change.Set = append(change.Set, outcome.Flag{Name: "--feature-gates", Value: kept})
		}
	}
	if len(change.Remove) == 0 && len(change.Set) == 0 {
		return nil
	}
	return &change
}

func withoutExcludedLoops(list string) string {
	entries := strings.Split(list, ",")
	entries = slices.DeleteFunc(entries, func(entry string) bool {
		name, excluded := strings.CutPrefix(strings.TrimSpace(entry), "-")
		return excluded && isCloudLoop(name)
	})
	if len(entries) == 0 {
		return "*"
	}
	return strings.Join(entries, ",")
}

// withoutInTreeGates drops the two gates that let in-tree providers live in 1.29 and 1.30, which 1.33 does not know, and
// those of the provider that the next minor does not know.
func withoutInTreeGates(gates string, retired []string) string {
	retired = append([]string{"DisableCloudProviders", "DisableKubeletCloudCredentialProviders"}, retired...)
	pairs := slices.DeleteFunc(strings.Split(gates, ","), func(pair string) bool {
		name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
		return slices.Contains(retired, name)
	})
	return strings.Join(pairs, ",")
}
