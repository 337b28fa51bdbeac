package leadermigration

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Parse reads a configuration file as the managers of a minor do, and refuses what they refuse: an apiVersion that they do
// not know, an unquoted *, a missing resourceLock before v1, and from 1.32 on unknown and repeated fields.
// https://github.com/kubernetes/controller-manager/blob/v0.37.0/pkg/leadermigration/config/config.go
func Parse(data []byte, minor int) (Lock, error) {
	m, known := KnownMinor(minor)
	if !known {
		return Lock{}, unknownMinor(minor)
	}
	document, err := m.decode(data)
	if err != nil {
		return Lock{}, err
	}
	lock := Lock{ResourceLock: Leases}
	if err := document.text("apiVersion", &lock.APIVersion); err != nil {
		return Lock{}, err
	}
	if err := m.checkType(document, lock.APIVersion); err != nil {
		return Lock{}, err
	}
	fields := []string{"leaderName", "controllerLeaders"}
	if lock.APIVersion != group+"v1" {
		fields, lock.ResourceLock = append(fields, "resourceLock"), ""
		if err := document.text("resourceLock", &lock.ResourceLock); err != nil {
			return Lock{}, err
		}
	}
	if err := m.checkFields("the file", document, append(fields, "apiVersion", "kind")...); err != nil {
		return Lock{}, err
	}
	if err := document.text("leaderName", &lock.Name); err != nil {
		return Lock{}, err
	}
	if lock.Entries, err = m.entries(document["controllerLeaders"]); err != nil {
		return Lock{}, err
	}
	return lock, lock.validate()
}

// object is a JSON object; its keys are compared letter by letter, as Kubernetes does and encoding/json does not.
type object map[string]json.RawMessage

func (m Minor) decode(data []byte) (object, error) {
	convert := yaml.YAMLToJSON
	if m.Strict {
		convert = yaml.YAMLToJSONStrict
	}
	converted, err := convert(data)
	if err != nil {
		return nil, fmt.Errorf("it is no YAML that 1.%d reads (a * has to be quoted): %w", m.Minor, err)
	}
	var document object
	if err := json.Unmarshal(converted, &document); err != nil || document == nil {
		return nil, fmt.Errorf("it is no %s: write apiVersion, kind, leaderName and controllerLeaders", kind)
	}
	return document, nil
}

func (o object) text(field string, into *string) error {
	raw, given := o[field]
	if !given {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s is no text: quote it", field)
	}
	return nil
}

func (m Minor) checkType(document object, apiVersion string) error {
	var got string
	if err := document.text("kind", &got); err != nil {
		return err
	}
	if got != kind {
		return fmt.Errorf("kind is %q: write %s", got, kind)
	}
	if !slices.Contains(m.APIVersions, apiVersion) {
		return fmt.Errorf("apiVersion %q is not known to 1.%d: write %s", apiVersion, m.Minor, strings.Join(m.APIVersions, " or "))
	}
	return nil
}

func (m Minor) checkFields(where string, document object, known ...string) error {
	var unknown []string
	for field := range document {
		if !slices.Contains(known, field) {
			unknown = append(unknown, field)
		}
	}
	if !m.Strict || len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%s has fields that 1.%d refuses: take out %s", where, m.Minor, strings.Join(unknown, ", "))
}

func (m Minor) entries(raw json.RawMessage) ([]Entry, error) {
	if raw == nil {
		return nil, nil
	}
	var list []object
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("controllerLeaders is no list of entries with a name and a component")
	}
	entries := make([]Entry, 0, len(list))
	for i, item := range list {
		where := fmt.Sprintf("controllerLeaders[%d]", i)
		if err := m.checkFields(where, item, "name", "component"); err != nil {
			return nil, err
		}
		var name, component string
		if err := errors.Join(item.text("name", &name), item.text("component", &component)); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		entries = append(entries, Entry{Name: name, Component: Component(component)})
	}
	return entries, nil
}

// validate is what every version validates.
func (l Lock) validate() error {
	if l.Name == "" {
		return errors.New("leaderName is missing: name the Lease")
	}
	if l.ResourceLock != Leases && l.ResourceLock != Endpoints {
		return fmt.Errorf("resourceLock is %q: write %s", l.ResourceLock, Leases)
	}
	for i, entry := range l.Entries {
		if entry.Name == "" || entry.Component == "" {
			return fmt.Errorf("controllerLeaders[%d] needs a name and a component", i)
		}
	}
	return nil
}

func unknownMinor(minor int) error {
	return fmt.Errorf("1.%d is not known: the tables end at 1.%d and begin at 1.%d", minor, LastMinor, FirstMinor)
}
