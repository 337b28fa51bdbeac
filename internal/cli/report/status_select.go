package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selection is which Clusters of a fleet are shown.
type selection struct {
	labels, fields string
	all            bool

	label labels.Selector
	field fields.Selector
}

// fieldsOf a Cluster are what --field takes, with the names that they have in the JSON.
func fieldsOf(r *clusterReport) fields.Set {
	return fields.Set{
		"cluster": r.Cluster, "fleetMigration": r.FleetMigration, "origin": string(r.Origin), "provider": r.Provider,
		"readyToMigrate": string(r.ReadyToMigrate), "reason": r.Reason, "state": string(r.State), "step": string(r.Step),
		"trouble": string(r.Trouble), "version": r.Version, "wave": r.Wave,
	}
}

func (o *selection) bind(flags *pflag.FlagSet) {
	flags.StringVarP(&o.labels, "selector", "l", "", "Only Clusters with these labels.")
	flags.StringVar(&o.fields, "field", "", "Only Clusters with these values, such as step=Roll,state!=Done; by "+
		strings.Join(fieldNames(), ", ")+".")
	flags.BoolVarP(&o.all, "all-namespaces", "A", false, "Of all namespaces, which is the default.")
}

func fieldNames() []string {
	names := []string{}
	for name := range fieldsOf(&clusterReport{}) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// parse the flags; name and namespace are what else was asked for.
func (o *selection) parse(name, namespace string) error {
	if name != "" && (o.all || o.labels != "" || o.fields != "") {
		return errors.New("a NAME is one Cluster already: leave out --selector, --field and --all-namespaces")
	}
	if o.all && namespace != "" {
		return errors.New("--all-namespaces and --namespace exclude each other")
	}
	var err error
	if o.label, err = labels.Parse(o.labels); err != nil {
		return fmt.Errorf("read --selector: %w", err)
	}
	if o.field, err = fields.ParseSelector(o.fields); err != nil {
		return fmt.Errorf("read --field: %w", err)
	}
	for _, requirement := range o.field.Requirements() {
		if !slices.Contains(fieldNames(), requirement.Field) {
			return fmt.Errorf("--field has no %q; it has %s", requirement.Field, strings.Join(fieldNames(), ", "))
		}
	}
	return nil
}

func (o *selection) selects(r *clusterReport) bool {
	return o.field == nil || o.field.Matches(fieldsOf(r))
}

func (o *selection) selectsAll() bool { return o.labels == "" && o.fields == "" }
