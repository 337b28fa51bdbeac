package simtest

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// checkRow: a row does and records nothing but what it says of itself, so that its documents are true.
func checkRow(i *invariants, o observation.Observation, d migration.Decision) {
	before := o.Cluster.Status.Facts
	row := migration.RowOf(before.Origin, d.Step)
	if action := d.Action; action != nil && !slices.Contains(append(migration.ActionsOfAnyRow(), row.Actions...), action.Kind) {
		i.fail("row %s does not say that it brings %s", d.Step, action.Kind)
	}
	if d.Facts == nil || before.Origin != d.Facts.Origin || reflect.DeepEqual(before, *d.Facts) {
		return // The origin is resolved, or what an earlier Cluster recorded is taken up.
	}
	said := append(migration.RecordsOfAnyRow(), row.Records...)
	for _, holds := range d.Rows { // A row that holds may record what it saw as well: a roll whose record was lost, for one.
		if holds.Holds {
			said = append(said, migration.RowOf(before.Origin, holds.Step).Records...)
		}
	}
	for _, field := range recorded(before, *d.Facts) {
		object, _, _ := strings.Cut(field, ".")
		if !slices.Contains(said, field) && !slices.Contains(said, object) {
			i.fail("row %s does not say that it records %s", d.Step, field)
		}
	}
}

// recorded are the fields that have another value than before, sorted. What is forgotten has none.
func recorded(before, after ucv1.Facts) []string {
	was := fieldsOf(before)
	fields := fieldsOf(after)
	maps.DeleteFunc(fields, func(name string, value any) bool { return reflect.DeepEqual(was[name], value) })
	return slices.Sorted(maps.Keys(fields))
}

// fieldsOf a status, those of the hand-over and of the rollback by themselves.
func fieldsOf(facts ucv1.Facts) map[string]any {
	fields := map[string]any{}
	for name, value := range decoded(facts) {
		inner, isObject := value.(map[string]any)
		if !isObject || name != "handover" && name != "rollback" {
			fields[name] = value
			continue
		}
		for part, value := range inner {
			fields[name+"."+part] = value
		}
	}
	return fields
}

func decoded(facts ucv1.Facts) map[string]any {
	fields := map[string]any{}
	encoded, err := json.Marshal(facts)
	if err == nil {
		err = json.Unmarshal(encoded, &fields)
	}
	if err != nil {
		panic(err) // They are values of the API.
	}
	return fields
}
