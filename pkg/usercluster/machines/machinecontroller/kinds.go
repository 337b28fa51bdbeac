package machinecontroller

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// templateHashLabel is what the machine-controller adds to the template of a MachineSet.
const templateHashLabel = "machine-template-hash"

// seenKinds are what was read of each kind: Machines come and go while their MachineDeployments stay as they are.
type seenKinds struct {
	machines    seenKind[observation.Machine]
	sets        seenKind[machineSet]
	deployments seenKind[machineDeployment]
}

// seenKind is what was read of one.
type seenKind[T any] struct {
	kind  string
	to    func(*unstructured.Unstructured) T
	value kept.Value[[]T]
}

// machineSet and machineDeployment are compared by the digests of their templates.
type machineSet struct {
	observation.MachineSet

	template string
}

type machineDeployment struct {
	observation.MachineDeployment

	template string
}

func newSeenKinds() *seenKinds {
	return &seenKinds{
		machines:    seenKind[observation.Machine]{kind: machineKind, to: toMachine},
		sets:        seenKind[machineSet]{kind: machineSetKind, to: toMachineSet},
		deployments: seenKind[machineDeployment]{kind: machineDeploymentKind, to: toDeploymentWithTemplate},
	}
}

// Observe reads the Machines, MachineSets and MachineDeployments of all namespaces. They are absent when the
// machine-controller's CRDs are. Owners are read after what they own, and once more when what was kept of them lacks one, so
// that nothing seen lacks an owner only because it was made in between.
func (a *Adapter) Observe(ctx context.Context) observation.Observed[observation.Machines] {
	machines, _ := read(ctx, a, &a.seen.machines)
	sets := readOwners(ctx, a, &a.seen.sets, func(sets []machineSet) bool {
		owners := map[string]bool{"": true}
		for i := range sets {
			owners[sets[i].UID] = true
		}
		return slices.ContainsFunc(machines.Value(), func(machine observation.Machine) bool { return !owners[machine.Set] })
	})
	deployments := readOwners(ctx, a, &a.seen.deployments, func(deployments []machineDeployment) bool {
		owners := map[string]bool{"": true}
		for i := range deployments {
			owners[deployments[i].UID] = true
		}
		return slices.ContainsFunc(sets.Value(), func(set machineSet) bool { return !owners[set.Deployment] })
	})
	absent := []bool{machines.IsAbsent(), sets.IsAbsent(), deployments.IsAbsent()}
	switch {
	case machines.IsUnknown() || sets.IsUnknown() || deployments.IsUnknown():
		return observation.Unknown[observation.Machines](cmp.Or(machines.Why(), sets.Why(), deployments.Why()))
	case !slices.Contains(absent, false):
		return observation.Absent[observation.Machines]()
	case slices.Contains(absent, true):
		return observation.Unknown[observation.Machines]("only some of the CRDs of the machine-controller are installed: install or " +
			"remove all three")
	}
	a.watch()
	result := withOwners(machines.Value(), sets.Value(), deployments.Value())
	a.revisions.date(result.Sets, a.clock.Now())
	a.noteRefusals(ctx, result.Deployments)
	return observation.Known(result)
}

// readOwners reads them once more when what was kept lacks one.
func readOwners[T any](
	ctx context.Context, a *Adapter, seen *seenKind[T], lacksOne func([]T) bool,
) observation.Observed[[]T] {
	owners, again := read(ctx, a, seen)
	if !again && lacksOne(owners.Value()) {
		owners, _ = read(kept.Live(ctx), a, seen)
	}
	return owners
}

// read says whether it was read now.
func read[T any](ctx context.Context, a *Adapter, seen *seenKind[T]) (found observation.Observed[[]T], now bool) {
	mark := a.watches.Mark(resourceOf(seen.kind))
	found = seen.value.Read(ctx, a.clock.Now(), mark, func() observation.Observed[[]T] {
		now = true
		items := []T{}
		err := a.eachOf(ctx, seen.kind, func(object *unstructured.Unstructured) {
			items = append(items, reads.Keep(ctx, seen.to(object)))
		})
		switch {
		case apierrors.IsNotFound(err):
			return observation.Absent[[]T]()
		case err != nil:
			return observation.Unknown[[]T](reads.Because("listing "+seen.kind+"s", err))
		}
		return observation.Known(items)
	})
	return found, now
}

func withOwners(machines []observation.Machine, sets []machineSet, deployments []machineDeployment) observation.Machines {
	result, templates := observation.Machines{Machines: slices.Clone(machines)}, map[string]string{}
	for _, deployment := range deployments {
		templates[deployment.UID] = deployment.template
		result.Deployments = append(result.Deployments, deployment.MachineDeployment)
	}
	for _, set := range sets {
		template, owned := templates[set.Deployment]
		set.Current = owned && template == set.template
		result.Sets = append(result.Sets, set.MachineSet)
	}
	slices.SortFunc(result.Deployments, func(a, b observation.MachineDeployment) int { return reads.Compare(a.Ref, b.Ref) })
	slices.SortFunc(result.Sets, func(a, b observation.MachineSet) int { return reads.Compare(a.Ref, b.Ref) })
	slices.SortFunc(result.Machines, func(a, b observation.Machine) int { return reads.Compare(a.Ref, b.Ref) })
	return result
}

func toDeploymentWithTemplate(object *unstructured.Unstructured) machineDeployment {
	return machineDeployment{toMachineDeployment(object), digestOfTemplate(object)}
}

func toMachineSet(object *unstructured.Unstructured) machineSet {
	return machineSet{observation.MachineSet{
		Ref:          reads.RefOf(object),
		Deployment:   controllerOf(object, machineDeploymentKind),
		RestartValue: restartValue(object),
		CreatedAt:    object.GetCreationTimestamp().Time,
		Replicas:     int32(integerOr(object, 1, "spec", "replicas")),
		Version:      object.GetResourceVersion(),
		Revision:     revisionOf(object, revisionAnnotation),
	}, digestOfTemplate(object)}
}

// digestOfTemplate: fmt sorts the keys of maps.
func digestOfTemplate(object *unstructured.Unstructured) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", normalizedTemplate(object)))
	return hex.EncodeToString(sum[:])
}

// normalizedTemplate is the template without what the machine-controller adds: the hash label, and the empty fields
// that writing its Go types leaves behind.
func normalizedTemplate(object *unstructured.Unstructured) map[string]any {
	template, _, _ := unstructured.NestedMap(object.Object, "spec", "template")
	unstructured.RemoveNestedField(template, "metadata", "labels", templateHashLabel)
	pruned, _ := withoutEmpty(template).(map[string]any)
	return pruned
}

// withoutEmpty drops nulls, empty texts, lists and maps, at any depth; what is left empty becomes nil.
func withoutEmpty(value any) any {
	switch typed := value.(type) {
	case string:
		if typed == "" {
			return nil
		}
	case []any:
		if len(typed) == 0 {
			return nil
		}
	case map[string]any:
		kept := map[string]any{}
		for key, field := range typed {
			if field = withoutEmpty(field); field != nil {
				kept[key] = field
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	}
	return value
}
