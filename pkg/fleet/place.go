package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// place is that a FleetMigration selects a Cluster, and in which wave, -1 where none has it. Windows are those that are for it.
type place struct {
	migration, wave int
	windows         []int
}

// Placer says what selects a Cluster. It keeps its answers by labels, because thousands of Clusters share few sets of labels,
// and forgets them when a FleetMigration changes. It is not safe for concurrent use.
type Placer struct {
	generations string
	places      map[string][]place
}

// Place the Clusters of a fleet. A decision about one that is not placed admits none of it.
func (p *Placer) Place(f *Fleet) {
	slices.SortFunc(f.Migrations, func(a, b Migration) int { return before(&a, &b) })
	generations := strings.Builder{}
	for _, m := range f.Migrations {
		generations.WriteString(string(m.object.UID) + "/" + strconv.FormatInt(m.object.Generation, 10) + " ")
	}
	// Labels come and go, and what is kept of them must not grow for ever.
	if p.places == nil || p.generations != generations.String() || len(p.places) > 2*len(f.Members)+1000 {
		p.generations, p.places = generations.String(), map[string][]place{}
	}
	for i := range f.Members {
		m := &f.Members[i]
		if m.NamespaceUnknown {
			m.places = nil
			continue
		}
		key := keyOf(m.NamespaceLabels) + "\x00" + keyOf(m.Labels)
		places, known := p.places[key]
		if !known {
			places = placesOf(f.Migrations, m)
			p.places[key] = places
		}
		m.places = places
	}
}

func keyOf(set labels.Set) string {
	key := strings.Builder{}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		key.WriteString(name + "=" + set[name] + ",")
	}
	return key.String()
}

// placesOf are in the order of FleetMigrations.
func placesOf(migrations []Migration, m *Member) []place {
	places := []place{}
	for i := range migrations {
		migration := &migrations[i]
		if !migration.rules.selects(m) {
			continue
		}
		at := place{migration: i, wave: slices.IndexFunc(migration.waves, func(s selection) bool { return s.selects(m) })}
		for w := range migration.windows {
			if migration.windows[w].selects(m) {
				at.windows = append(at.windows, w)
			}
		}
		places = append(places, at)
	}
	return places
}

// Selects says whether a FleetMigration selects a Cluster with these labels. A selector that cannot be read is an error: whom
// it is about is not known.
func Selects(fm *ucv1.FleetMigration, cluster, namespace labels.Set) (bool, error) {
	clusters, err := selector(fm.Spec.ClusterSelector)
	if err != nil {
		return false, fmt.Errorf("spec.clusterSelector of FleetMigration %s: %w", fm.Name, err)
	}
	namespaces := labels.Everything()
	if fm.Spec.NamespaceSelector != nil {
		if namespaces, err = selector(fm.Spec.NamespaceSelector); err != nil {
			return false, fmt.Errorf("spec.namespaceSelector of FleetMigration %s: %w", fm.Name, err)
		}
	}
	return clusters.Matches(cluster) && namespaces.Matches(namespace), nil
}

func (s selection) selects(m *Member) bool {
	return s.clusters != nil && s.clusters.Matches(m.Labels) && s.namespaces.Matches(m.NamespaceLabels)
}
