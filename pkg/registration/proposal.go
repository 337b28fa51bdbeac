package registration

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// Field is a field of a proposed Cluster.
type Field struct {
	// Path of the field, such as spec.cloud.providerName.
	Path string `json:"path"`
	// Value is a string or a bool; nil where it could not be found out.
	Value any `json:"value,omitempty"`
	// From says where the value comes from, or why there is none.
	From string `json:"from"`
	// Check says what a person has to check, or to fill in.
	Check string `json:"check,omitempty"`
}

// Missing says that a person has to fill it in.
func (f Field) Missing() bool { return f.Value == nil }

// Proposal is a Cluster for one user cluster, or why none is proposed.
type Proposal struct {
	// Subject is what it was made from, such as "Deployment cluster-abc/controller-manager".
	Subject string `json:"subject"`
	// Refused says why no Cluster is proposed; then there are no fields.
	Refused string `json:"refused,omitempty"`
	// Warnings are about the whole of it.
	Warnings []string `json:"warnings,omitempty"`
	// Fields in the order in which they are written: those of one parent follow each other.
	Fields []Field `json:"fields,omitempty"`
}

// refusal is a proposal of nothing.
func refusal(subject, why string) Proposal { return Proposal{Subject: subject, Refused: why} }

func (p *Proposal) add(fields ...Field) { p.Fields = append(p.Fields, fields...) }

func (p *Proposal) warn(warnings ...string) { p.Warnings = append(p.Warnings, warnings...) }

// Missing are the paths of the fields that a person has to fill in.
func (p Proposal) Missing() []string {
	var paths []string
	for _, field := range p.Fields {
		if field.Missing() {
			paths = append(paths, field.Path)
		}
	}
	return paths
}

// value of a field; empty: it has none.
func (p Proposal) value(path string) string {
	for _, field := range p.Fields {
		if text, is := field.Value.(string); is && field.Path == path {
			return text
		}
	}
	return ""
}

// Manifest is the Cluster with the fields that are known; nil when none is proposed.
func (p Proposal) Manifest() map[string]any {
	if p.Refused != "" {
		return nil
	}
	manifest := map[string]any{"apiVersion": ucv1.GroupVersion().String(), "kind": "Cluster"}
	for _, field := range p.Fields {
		if field.Missing() {
			continue
		}
		parents := strings.Split(field.Path, ".")
		object := manifest
		for _, parent := range parents[:len(parents)-1] {
			child, is := object[parent].(map[string]any)
			if !is {
				child = map[string]any{}
				object[parent] = child
			}
			object = child
		}
		object[parents[len(parents)-1]] = field.Value
	}
	return manifest
}

// cluster is the manifest as the rules about Clusters take it.
func (p Proposal) cluster() (*ucv1.Cluster, error) {
	cluster := &ucv1.Cluster{}
	return cluster, runtime.DefaultUnstructuredConverter.FromUnstructured(p.Manifest(), cluster)
}

// switchedOff are what every proposal has: nothing happens before a person says so twice.
func switchedOff() []Field {
	return []Field{
		{
			Path: "spec.features.externalCloudProvider", Value: false,
			From:  "chosen: while it is false, the controller only reads.",
			Check: "Set it to true to migrate, when condition ReadyToMigrate is True. It can never be unset again.",
		},
		{
			Path: "spec.mode", Value: string(ucv1.PlanOnlyMode),
			From:  "chosen: a migration starts only with a plan that you approved in spec.approval.planDigest.",
			Check: "Set it to Migrate to do without the approval.",
		},
	}
}

// Providers are what the catalogue knows of the clouds.
type Providers struct {
	// InTree has the name in the catalogue for each value of KCM's --cloud-provider.
	InTree map[string]string
	// Keys of a complete cloud configuration, by the name in the catalogue.
	Keys map[string][]string
	// Unknown is a sentence when the catalogue has no provider of that name.
	Unknown func(name string) string
	// Objections are why the API server would refuse the Cluster, as sentences.
	Objections func(cluster *ucv1.Cluster) string
	// Unmigratable says why a provider cannot be migrated at a version.
	Unmigratable func(name, version string) string
}

// named is the name in the catalogue for that of a platform, or of KCM.
func (p Providers) named(name string) string {
	if own, is := p.InTree[name]; is {
		return own
	}
	return name
}

// keysOf a complete cloud configuration, for people.
func (p Providers) keysOf(provider string) string {
	keys := slices.Sorted(slices.Values(p.Keys[provider]))
	switch len(keys) {
	case 0:
		return "the keys of its provider, which docs/providers has"
	case 1:
		return "key " + keys[0]
	}
	return "keys " + strings.Join(keys, ", ")
}

// judge asks the rules about Clusters, which would refuse some, and warn of others.
func (p Providers) judge(made Proposal) Proposal {
	name, version := made.value("spec.cloud.providerName"), made.value("spec.version")
	if made.Refused != "" || name == "" || version == "" {
		return made
	}
	cluster, err := made.cluster()
	if err != nil {
		return refusal(made.Subject, "its fields do not make a Cluster: this is a fault of the program.")
	}
	if objections := p.Objections(cluster); objections != "" {
		return refusal(made.Subject, "the API server would refuse it: "+objections)
	}
	if problem := p.Unmigratable(name, version); problem != "" {
		made.warn("As it is, it could not be migrated: " + problem)
	}
	return made
}
