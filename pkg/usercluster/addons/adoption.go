package addons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fluxcd/pkg/ssa"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// FieldChange is what an adoption changes in one field. A value that is not there is empty, and one that may be a secret is
// masked.
type FieldChange struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// ObjectPlan is what the adoption of one object changes.
type ObjectPlan struct {
	ref observation.Ref
	// Object with whoever seems to manage it.
	Object  string        `json:"object"`
	Kind    string        `json:"kind"`
	Changes []FieldChange `json:"changes"`
	// Problem is a sentence when the API server refuses the change.
	Problem string `json:"problem,omitempty"`
}

// masked stands for a value that may be a secret. That it changes is none.
const masked = "(masked)"

func (p ObjectPlan) takeover() observation.Takeover {
	takeover := observation.Takeover{Ref: p.ref, Object: p.Object, Problem: p.Problem}
	for _, change := range p.Changes {
		takeover.Fields = append(takeover.Fields, change.Path)
	}
	return takeover
}

// AdoptionPlan compares what is someone else's with what would be applied in its place. Nothing is changed.
func (in *Installer) AdoptionPlan(ctx context.Context, inventory []InventoryEntry, sets manifest.Addons) ([]ObjectPlan, error) {
	var plans []ObjectPlan
	for _, object := range slices.Concat(sets.CSI.Objects, sets.CCM.Objects) {
		if slices.ContainsFunc(inventory, entryOf(object).same) {
			continue
		}
		live, err := in.get(ctx, object)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, reads.Unseen(reads.Because("reading "+reads.RefOf(object).String(), err))
		default:
			plans = append(plans, in.planOf(ctx, object.DeepCopy(), live))
		}
	}
	return plans, nil
}

// planOf is the difference that the engine would make, by the API server's own dry run. That it refuses is a part of the plan.
func (p *places) planOf(ctx context.Context, want, live *unstructured.Unstructured) ObjectPlan {
	plan := ObjectPlan{ref: reads.RefOf(live), Object: describeOwner(live), Kind: live.GetKind(), Changes: []FieldChange{}}
	change, before, after, err := manager(p.clientOf(want)).Diff(ctx, want, ssa.DefaultDiffOptions())
	switch {
	case err != nil:
		plan.Problem = refusal(err)
	case change.Action == ssa.ConfiguredAction && before != nil && after != nil:
		collect(&plan.Changes, want.GetKind(), "", content(before), content(after))
	}
	return plan
}

// refusal names fields and quotes nothing: messages of the API server quote values.
func refusal(err error) string {
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) {
		return "its change cannot be compared: " + reads.Describe(err)
	}
	var fields []string
	if details := status.ErrStatus.Details; details != nil {
		for _, cause := range details.Causes {
			fields = append(fields, cause.Field)
		}
	}
	slices.Sort(fields)
	refused := fmt.Sprintf("the API server refuses the change (%s)", status.ErrStatus.Reason)
	if len(fields) > 0 {
		refused += " of " + strings.Join(slices.Compact(fields), ", ")
	}
	if strings.Contains(status.ErrStatus.Message, "immutable") {
		refused += ", which is immutable"
	}
	return refused
}

// content is what the engine compares: not what the API server writes by itself.
func content(object *unstructured.Unstructured) map[string]any {
	fields := maps.Clone(object.Object)
	delete(fields, "status")
	fields["metadata"] = map[string]any{"labels": untyped(object.GetLabels()), "annotations": untyped(object.GetAnnotations())}
	return fields
}

func untyped(values map[string]string) map[string]any {
	fields := map[string]any{}
	for key, value := range values {
		fields[key] = value
	}
	return fields
}

// collect walks both objects and notes the leaves that differ, in the order of their paths.
func collect(changes *[]FieldChange, kind, path string, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	from, wasMap := before.(map[string]any)
	to, isMap := after.(map[string]any)
	if wasMap && isMap {
		for _, key := range union(from, to) {
			collect(changes, kind, join(path, key), from[key], to[key])
		}
		return
	}
	fromList, wasList := before.([]any)
	toList, isList := after.([]any)
	if wasList && isList {
		from, to = keyed(fromList, toList)
		for _, key := range union(from, to) {
			collect(changes, kind, path+"["+key+"]", from[key], to[key])
		}
		return
	}
	change := FieldChange{Path: path, From: text(before), To: text(after)}
	if confidential(kind, path) {
		change.From, change.To = hide(change.From), hide(change.To)
	}
	*changes = append(*changes, change)
}

func union(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// keyed makes maps of two lists: by the names of their items where all have one, as containers do, else by their places.
func keyed(lists ...[]any) (from, to map[string]any) {
	named := true
	for _, item := range slices.Concat(lists...) {
		fields, isMap := item.(map[string]any)
		named = named && isMap && fields["name"] != nil
	}
	made := make([]map[string]any, 0, len(lists))
	for _, list := range lists {
		items := map[string]any{}
		for i, item := range list {
			key := strconv.Itoa(i)
			if fields, isMap := item.(map[string]any); named && isMap {
				key = fmt.Sprint(fields["name"])
			}
			items[key] = item
		}
		made = append(made, items)
	}
	return made[0], made[1]
}

func join(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	}
	return path + "." + key
}

func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	return string(data)
}

// confidential fields are those that may hold credentials, in whoever's object: data, the environment of a container, and the
// copy of an object that kubectl apply leaves in it.
func confidential(kind, path string) bool {
	data := (kind == "Secret" || kind == "ConfigMap") && !strings.HasPrefix(path, "metadata.labels")
	return data || strings.Contains(path, ".env[") || strings.HasSuffix(path, ".env") || strings.Contains(path, lastApplied)
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func hide(value string) string {
	if value == "" {
		return ""
	}
	return masked
}
