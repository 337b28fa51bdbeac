package addons_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// atOnce is how many requests the tests have under way.
const atOnce = 8

// applied brings a cluster to a rendering: what the comparison names is written, each object once, and nothing the second time.
// What it returns is obsolete then.
func applied(t *testing.T, c *cluster, r rendering) (obsolete []string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(warnings(t, r.objects())).To(BeEmpty())
	drifted, _ := c.observe(t, r)
	g.Expect(c.apply(t, r)).To(HaveLen(len(drifted)), "what is written is what was to be: %s", strings.Join(drifted, ", "))
	g.Expect(lost(t, r.objects())).To(BeEmpty(), "the API server has every field that was rendered")

	g.Expect(c.apply(t, r)).To(BeEmpty(), "the second time nothing is written")
	drifted, obsolete = c.observe(t, r)
	g.Expect(drifted).To(BeEmpty())
	return obsolete
}

// repaired has someone change objects, and the controller find and fix exactly those.
func repaired(t *testing.T, c *cluster, r rendering) {
	t.Helper()
	g := NewWithT(t)
	damaged := damage(t, r)
	drifted, _ := c.observe(t, r)
	g.Expect(drifted).To(ConsistOf(damaged))
	g.Expect(c.apply(t, r)).To(HaveLen(len(damaged)))
	g.Expect(lost(t, r.objects())).To(BeEmpty())
}

// damage changes an object of each kind in each set, the way a person does: an argument, a rule, a label, or all of it.
func damage(t *testing.T, r rendering) (damaged []string) {
	t.Helper()
	g := NewWithT(t)
	for _, set := range r.sets() {
		kinds := map[string]bool{}
		for _, object := range set.Objects {
			if kinds[object.GetKind()] {
				continue
			}
			kinds[object.GetKind()] = true
			g.Expect(damageObject(t.Context(), object)).To(Succeed(), nameOf(object))
			damaged = append(damaged, nameOf(object))
		}
	}
	return damaged
}

func damageObject(ctx context.Context, object *unstructured.Unstructured) error {
	live := object.DeepCopy()
	if err := suite.admin.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return err
	}
	switch object.GetKind() {
	case "Secret", "ConfigMap":
		return suite.admin.Delete(ctx, live)
	case "Deployment", "DaemonSet":
		containers, _, err := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "containers")
		if err != nil {
			return err
		}
		containers[0].(map[string]any)["args"] = []any{"--by-hand"}
		if err := unstructured.SetNestedSlice(live.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			return err
		}
	case "CustomResourceDefinition":
		// Without our label it would be someone else's.
		if err := unstructured.SetNestedStringSlice(live.Object, []string{"byhand"}, "spec", "names", "shortNames"); err != nil {
			return err
		}
	case "Role", "ClusterRole":
		rules, _, err := unstructured.NestedSlice(live.Object, "rules")
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedSlice(live.Object, rules[1:], "rules"); err != nil {
			return err
		}
	default:
		labels := live.GetLabels()
		delete(labels, manifest.ManagedByLabel)
		live.SetLabels(labels)
	}
	return suite.admin.Update(ctx, live, client.FieldOwner("by-hand"))
}

// read returns the objects as they are, by name.
func read(t *testing.T, objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	t.Helper()
	var mu sync.Mutex
	all := map[string]*unstructured.Unstructured{}
	each(t, objects, func(ctx context.Context, object *unstructured.Unstructured) error {
		live := object.DeepCopy()
		err := client.IgnoreNotFound(suite.admin.Get(ctx, client.ObjectKeyFromObject(object), live))
		mu.Lock()
		defer mu.Unlock()
		all[nameOf(object)] = live
		return err
	})
	return all
}

func each(t *testing.T, objects []*unstructured.Unstructured, do func(context.Context, *unstructured.Unstructured) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(atOnce)
	for _, object := range objects {
		group.Go(func() error { return do(ctx, object) })
	}
	NewWithT(t).Expect(group.Wait()).To(Succeed())
}

// warned collects what an API server warns of.
type warned struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warned) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// warnings of the API server about objects, such as about fields that it is going to drop.
func warnings(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	collected := &warned{}
	config := rest.CopyConfig(suite.environment.Config)
	config.WarningHandler = collected
	c, err := client.New(config, client.Options{Mapper: suite.admin.RESTMapper()})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	each(t, objects, func(ctx context.Context, object *unstructured.Unstructured) error {
		return c.Apply(
			ctx,
			client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
			client.FieldOwner(tester),
			client.ForceOwnership,
			client.DryRunAll,
		)
	})
	return collected.texts
}

// lost are the fields of the objects that the API server does not have, or has with another value.
func lost(t *testing.T, objects []*unstructured.Unstructured) []string {
	t.Helper()
	live := read(t, objects)
	var all []string
	for _, object := range objects {
		for _, field := range differences("", object.Object, live[nameOf(object)].Object) {
			all = append(all, nameOf(object)+" "+field)
		}
	}
	return all
}

// differences between what is wanted and what is there, where the latter may have more.
func differences(path string, want, got any) []string {
	var all []string
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			all = append(all, differences(path+"."+key, want[key], fields[key])...)
		}
		return all
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			return []string{fmt.Sprintf("%s has %d entries, want %d", path, len(items), len(want))}
		}
		for i := range want {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), want[i], items[i])...)
		}
		return all
	}
	if !same(want, got) {
		all = append(all, fmt.Sprintf("%s is %v, want %v", path, got, want))
	}
	return all
}

// same says that two values are one, however a quantity is written.
func same(want, got any) bool {
	wanted, isText := want.(string)
	found, areTexts := got.(string)
	if isText && areTexts && wanted != found {
		a, err := resource.ParseQuantity(wanted)
		if err != nil {
			return false
		}
		b, err := resource.ParseQuantity(found)
		return err == nil && a.Cmp(b) == 0
	}
	return reflect.DeepEqual(want, got)
}

func TestDifferences(t *testing.T) {
	object := map[string]any{"a": map[string]any{"b": []any{int64(1), "x"}, "memory": "1024Mi"}}
	for name, tc := range map[string]struct {
		got  map[string]any
		want []string
	}{
		"none": {object, nil},
		"a field more, and a quantity in other words": {
			map[string]any{"a": map[string]any{"b": []any{int64(1), "x"}, "memory": "1Gi", "c": true}, "d": int64(1)}, nil,
		},
		"a field less":     {map[string]any{"a": map[string]any{"b": []any{int64(1), "x"}}}, []string{".a.memory is <nil>, want 1024Mi"}},
		"another value":    {map[string]any{"a": map[string]any{"b": []any{int64(2), "x"}, "memory": "1Gi"}}, []string{".a.b[0] is 2, want 1"}},
		"an entry too few": {map[string]any{"a": map[string]any{"b": []any{int64(1)}, "memory": "1Gi"}}, []string{".a.b has 1 entries, want 2"}},
		"an entry more":    {map[string]any{"a": map[string]any{"b": []any{int64(1), "x", "y"}, "memory": "1Gi"}}, []string{".a.b has 3 entries, want 2"}},
		"nothing":          {nil, []string{".a.b has 0 entries, want 2", ".a.memory is <nil>, want 1024Mi"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(differences("", object, tc.got)).To(Equal(tc.want))
		})
	}
}
