package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/versions"
)

const (
	providersFolder = "docs/providers"
	// special begins the part of a provider's document that people write.
	special = "## What is special\n"
)

// providerDocuments has a document for each provider: what the catalogue knows, and below it what people wrote.
func providerDocuments() (map[string]string, error) {
	documents, catalogue := map[string]string{}, provider.New()
	for _, name := range catalogue.Names() {
		profile, _ := catalogue.Lookup(name)
		path := filepath.Join(providersFolder, name+".md")
		written, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		_, byHand, found := strings.Cut(string(written), special)
		if !found {
			return nil, fmt.Errorf("%s has no part %q: say there what an operator has to know", path, strings.TrimSpace(special))
		}
		document, err := providerDocument(name, profile)
		if err != nil {
			return nil, err
		}
		documents[path] = document + special + byHand
	}
	return documents, nil
}

func providerDocument(name string, profile provider.Profile) (string, error) {
	var out strings.Builder
	description := profile.Describe()
	fmt.Fprintf(&out, "%s# %s\n\n`spec.cloud.providerName: %s`. ", generated, description.Title, name)
	if tree := description.InTree; tree != nil {
		fmt.Fprintf(&out, "In-tree it was called `%s`; Kubernetes 1.%d is the last with it.", tree.Name, tree.LastMinor)
	} else {
		out.WriteString("It was never a part of Kubernetes, so there is nothing to migrate from.")
	}
	for _, project := range description.Projects {
		fmt.Fprintf(&out, " <%s>", project)
	}
	out.WriteString("\n\n## Versions\n\n")
	providerVersions(&out, profile)
	out.WriteString(
		"\n## Cloud configuration\n\nThe Secret of `spec.cloud.configSecretRef`:\n\n| Key | Required | Is |\n|---|---|---|\n",
	)
	for _, key := range description.Keys {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", key.Name, map[bool]string{true: "yes", false: "no"}[key.Required], key.Text)
	}
	providerNames(&out, description, profile.Facts(fmt.Sprintf("1.%d.0", versions.LastMinor)))
	if err := providerSecurity(&out, profile); err != nil {
		return "", fmt.Errorf("document provider %s: %w", name, err)
	}
	brokenReleases(&out, description.Broken)
	if len(description.Hazards) > 0 {
		out.WriteString("\n## Hazards\n\n")
	}
	for _, hazard := range description.Hazards {
		fmt.Fprintf(&out, "* %s ([source](%s))\n", hazard.Text, hazard.Link)
	}
	out.WriteString("\n")
	return out.String(), nil
}

func brokenReleases(out *strings.Builder, releases []manifest.BrokenRelease) {
	if len(releases) == 0 {
		return
	}
	out.WriteString("\n## Releases that do not work\n\nA [ProviderProfile](../provider-profiles.md) that names one is refused.\n\n" +
		"| Image | Releases | Why |\n|---|---|---|\n")
	for _, release := range releases {
		which := strings.Join(release.Tags, ", ")
		if release.Before != "" {
			which = strings.TrimSuffix("before "+release.Before+", "+which, ", ")
		}
		fmt.Fprintf(out, "| `%s` | %s | %s ([source](%s)) |\n", release.Image, which, release.Reason, release.Link)
	}
}

// providerSecurity is about the newest minor.
func providerSecurity(out *strings.Builder, profile provider.Profile) error {
	for minor := versions.LastMinor; minor >= versions.FirstMinor; minor-- {
		version := fmt.Sprintf("1.%d.0", minor)
		if _, err := profile.Release(version); err != nil {
			continue
		}
		addons, err := profile.Render(manifest.RenderInput{
			Version: version, CloudConfig: profile.Example(), ClusterUID: "example",
			Inherited: ucv1.InheritedConfiguration{ClusterName: "kubernetes"},
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n## Pod security\n\nThe [level](https://kubernetes.io/docs/concepts/security/pod-security-standards/) "+
			"that a label\n"+
			"`pod-security.kubernetes.io/enforce` of namespace kube-system has to allow (1.%d):\n\n| Workload | Level |\n|---|---|\n",
			minor)
		for _, set := range []manifest.Set{addons.CCM, addons.CSI} {
			for _, workload := range set.Workloads {
				fmt.Fprintf(out, "| %s `%s` | %s |\n", workload.Kind, workload.Name, set.PodSecurity(workload))
			}
		}
		return nil
	}
	return nil
}

// providerVersions joins minors that have the same.
func providerVersions(out *strings.Builder, profile provider.Profile) {
	out.WriteString("| Kubernetes | CCM | CSI driver | Refused |\n|---|---|---|---|\n")
	var reasons []string
	for _, row := range append(versions.Older(profile), versions.Matrix(profile)...) {
		var refused []string
		for _, refusal := range row.Refused {
			reason := refusal.Reason
			if refusal.Link != "" {
				reason += " ([source](" + refusal.Link + "))"
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			refused = append(refused, fmt.Sprintf("%s (%d)", refusal, slices.Index(reasons, reason)+1))
		}
		fmt.Fprintf(
			out,
			"| %s | %s | %s | %s |\n",
			row.Kubernetes(),
			cmp.Or(row.CCM, "-"),
			cmp.Or(row.CSI, "-"),
			strings.Join(refused, "; "),
		)
	}
	if len(reasons) > 0 {
		out.WriteString("\n")
	}
	for i, reason := range reasons {
		fmt.Fprintf(out, "%d. %s\n", i+1, reason)
	}
	out.WriteString("\nWhat the words mean, and what is refused for every provider: [version rules](../versions.md).\n")
}

func providerNames(out *strings.Builder, description manifest.Description, facts observation.Provider) {
	fmt.Fprintf(
		out,
		"\n## Names\n\n* Nodes: %s\n* providerID: `%s`\n* Load balancers: %s\n",
		description.NodeNames,
		description.ProviderID,
		description.LoadBalancers,
	)
	if description.Routes != "" {
		fmt.Fprintf(out, "* Routes: %s\n", description.Routes)
	}
	if class := facts.DefaultClass; class.Plugin != "" {
		fmt.Fprintf(
			out,
			"* StorageClasses: `%s` takes the place of a default of `%s`, or of none, when the migration is completed. Any other "+
				"default stays.\n",
			class.Name,
			class.Plugin,
		)
	} else if class.Name != "" {
		fmt.Fprintf(
			out,
			"* StorageClasses: `%s` becomes the default in a cluster that has none when the CCM leads. Any other default stays.\n",
			class.Name,
		)
	}
	if tree := description.InTree; tree != nil {
		lock, _ := leadermigration.LookupProvider(tree.Name)
		fmt.Fprintf(out, "* The CCM %s the migration lock.\n", map[bool]string{true: "takes", false: "does not take"}[lock.HonoursLock])
		for _, plugin := range slices.Sorted(maps.Keys(tree.Plugins)) {
			fmt.Fprintf(out, "* Volumes of `%s` are served by `%s`.\n", plugin, tree.Plugins[plugin])
		}
	}
}
