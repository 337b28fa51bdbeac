package simtest

import (
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

// recorded are the fields that have another value than before, as the status names them; those of the hand-over and of the
// rollback by themselves. What is forgotten has none.
func recorded(before, after ucv1.Facts) []string {
	fields := changedFields(before, after)
	for name, part := range map[string][2]any{
		"handover.": {valueOf(before.Handover), valueOf(after.Handover)},
		"rollback.": {valueOf(before.Rollback), valueOf(after.Rollback)},
	} {
		for _, field := range changedFields(part[0], part[1]) {
			fields = append(fields, name+field)
		}
	}
	return slices.DeleteFunc(fields, func(name string) bool { return name == "handover" || name == "rollback" })
}

func valueOf[T any](pointer *T) any {
	if pointer == nil {
		pointer = new(T)
	}
	return *pointer
}

func changedFields(before, after any) []string {
	var fields []string
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range is.NumField() {
		if !is.Field(i).IsZero() && !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			name, _, _ := strings.Cut(is.Type().Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
		}
	}
	return fields
}
