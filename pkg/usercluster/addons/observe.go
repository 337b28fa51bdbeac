package addons

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// compareInterval is how long a comparison that found nothing holds, give or take half: three requests an object are
// too many for every pass. Changes of our workloads end it at once.
const compareInterval = 10 * time.Minute

// Observe compares the CCM and the CSI driver with the user cluster. An object that exists is ours only if the inventory
// has it.
func (in *Installer) Observe(
	ctx context.Context,
	inventory []InventoryEntry,
	sets manifest.Addons,
) observation.Observed[observation.Addons] {
	ccmSet, err := in.observeSet(ctx, outcome.CCMSet, inventory, sets.CCM)
	if err != nil {
		return observation.Unknown[observation.Addons](err.Error())
	}
	csiSet, err := in.observeSet(ctx, outcome.CSISet, inventory, sets.CSI)
	if err != nil {
		return observation.Unknown[observation.Addons](err.Error())
	}
	addons := observation.Addons{CCM: ccmSet, CSI: csiSet, InventoryObjects: len(inventory)}
	addons.Obsolete = in.refsOf(
		Subtract(inventory, InventoryOf(slices.Concat(sets.CCM.Wanted(), sets.CSI.Wanted(), sets.Probe.Objects))),
	)
	return observation.Known(addons)
}

// Probe looks at the probe of the CCM while it is wanted, and for what is left of it while it is not.
func (in *Installer) Probe(
	ctx context.Context,
	inventory []InventoryEntry,
	set manifest.Set,
	id manifest.Identity,
	wanted bool,
) observation.Observed[observation.Probe] {
	if !wanted {
		others := Subtract(inventory, InventoryOf(set.Objects))
		return observation.Known(observation.Probe{Left: in.refsOf(Subtract(inventory, others))})
	}
	observed, err := in.observeSet(ctx, outcome.ProbeSet, inventory, set)
	if err != nil {
		return observation.Unknown[observation.Probe](err.Error())
	}
	id = render.ProbeIdentity(id)
	lease := in.leases.Lease(ctx, id.LeaseNamespace, id.LeaseName)
	if lease.IsUnknown() {
		return observation.Unknown[observation.Probe](lease.Why())
	}
	return observation.Known(observation.Probe{Set: observed, Lease: lease.Value()})
}

func (in *Installer) observeSet(
	ctx context.Context,
	name outcome.AddonSetName,
	inventory []InventoryEntry,
	set manifest.Set,
) (observation.AddonSet, error) {
	result := observation.AddonSet{Version: set.Version, WorkloadWithheld: set.WorkloadWithheld, Withdrawn: set.Withdrawn}
	compared, err := in.compare(ctx, name, inventory, set)
	if err != nil {
		return result, err
	}
	if compared.foreignDriver.Words != "" {
		serves, err := in.driverServes(ctx, set.Driver)
		if err != nil {
			return result, err
		}
		if serves {
			result.SatisfiedBy = compared.foreignDriver.Words
			return result, nil
		}
		result.DriverProblem = in.driverProblem(ctx, set, compared.foreignDriver)
	}
	result.Drifted = slices.Clone(compared.drifted)
	for _, theirs := range compared.foreign {
		result.Foreign, result.Takeovers = append(result.Foreign, theirs.Text()), append(result.Takeovers, theirs)
	}
	if set.WorkloadWithheld {
		result.Drifted = slices.DeleteFunc(result.Drifted, func(ref observation.Ref) bool { return set.Withholds(ref.Kind) })
		return result, nil
	}
	result.Unhealthy, err = in.health.unhealthy(ctx, compared.workloads)
	if err != nil || len(result.Unhealthy) == 0 || set.Access != nil {
		// Beside the control plane the Nodes of the user cluster are nothing to wait for.
		return result, err
	}
	result.Unschedulable, err = in.hasNoNodes(ctx)
	return result, err
}

// driverServes says that a driver is registered on a Node. It need not be on all: a new Node lacks it for a moment, and
// that every Node has it is asked before the migration completes.
func (in *Installer) driverServes(ctx context.Context, driver string) (bool, error) {
	observed := in.nodes(ctx)
	nodes, ok := observed.Get()
	if !ok {
		return false, fmt.Errorf("looking for CSI driver %s: %s", driver, observed.Why())
	}
	return slices.ContainsFunc(nodes, func(n observation.Node) bool { return slices.Contains(n.CSIDrivers, driver) }), nil
}

func (in *Installer) hasNoNodes(ctx context.Context) (bool, error) {
	observed := in.nodes(ctx)
	if observed.IsUnknown() {
		return false, reads.Unseen(observed.Why())
	}
	return len(observed.Value()) == 0, nil
}

// comparison is what comparing a set with the user cluster found.
type comparison struct {
	drifted []observation.Ref
	foreign []observation.Takeover
	// foreignDriver describes the set's CSIDriver if that is someone else's.
	foreignDriver observation.Text
	// workloads of the set that are not someone else's.
	workloads []*unstructured.Unstructured
}

// compare looks at every object, unless nothing changed since that last found nothing to do. What was found is looked
// at again in every pass: someone is about to fix it.
func (in *Installer) compare(
	ctx context.Context,
	name outcome.AddonSetName,
	inventory []InventoryEntry,
	set manifest.Set,
) (comparison, error) {
	generations, err := in.beside.generations(ctx, set)
	if err != nil {
		return comparison{}, err
	}
	objects := InventoryOf(set.Objects)
	digest, err := digestOf(set, Subtract(inventory, Subtract(inventory, objects)), generations)
	if err != nil {
		return comparison{}, err
	}
	now := in.clock.Now()
	known, change := in.memory.recall(name, objects, digest, now)
	if known != nil {
		return *known, nil
	}
	if set, err = in.WithoutForeign(ctx, inventory, set); err != nil {
		return comparison{}, err
	}
	result, err := in.compareObjects(ctx, inventory, set)
	if err != nil {
		return comparison{}, err
	}
	if due, err := in.tokens.due(ctx, set, result); err != nil {
		return comparison{}, err
	} else if due {
		result.drifted = append(result.drifted, set.Access.Secret)
	}
	if len(result.drifted) == 0 && (len(result.foreign) == 0 || result.foreignDriver.Words != "") {
		in.memory.keep(name, cleanComparison{result, digest, now.Add(wait.Jitter(compareInterval/2, 2))}, change)
	}
	return result, nil
}

func (in *Installer) compareObjects(ctx context.Context, inventory []InventoryEntry, set manifest.Set) (comparison, error) {
	found := make([]objectComparison, len(set.Objects))
	if err := reads.Concurrently(ctx, len(found), func(ctx context.Context, i int) (err error) {
		object := set.Objects[i]
		found[i], err = in.compareObject(ctx, object.DeepCopy(), slices.ContainsFunc(inventory, entryOf(object).same))
		return err
	}); err != nil {
		return comparison{}, err
	}
	for i, object := range set.Objects {
		if seen := found[i].workload; seen != nil && !set.Withholds(object.GetKind()) {
			in.health.of(object).Put(seen.at, seen.mark, in.health.judge(ctx, seen.live))
		}
	}
	return summarize(set, found), nil
}

func summarize(set manifest.Set, found []objectComparison) comparison {
	result := comparison{}
	for i, object := range set.Objects {
		if manifest.IsWorkload(object.GetKind()) {
			result.workloads = append(result.workloads, object)
		}
		if found[i].drifted {
			result.drifted = append(result.drifted, reads.RefOf(object))
		}
		if theirs := found[i].foreign; theirs != nil {
			result.foreign = append(result.foreign, *theirs)
			if set.Driver != "" && object.GetKind() == "CSIDriver" && object.GetName() == set.Driver {
				result.foreignDriver = theirs.Text()
			}
		}
	}
	return result
}

type objectComparison struct {
	drifted  bool
	foreign  *observation.Takeover
	workload *seenWorkload
}

// seenWorkload spares the look at its health to read it once more.
type seenWorkload struct {
	live *unstructured.Unstructured
	mark kept.Mark
	at   time.Time
}

// compareObject reads before it compares, because the engine takes an object that it could not read for a missing one.
func (in *Installer) compareObject(ctx context.Context, want *unstructured.Unstructured, ours bool) (objectComparison, error) {
	mark, at := in.health.markOf(want), in.clock.Now()
	live, err := in.get(ctx, want)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return objectComparison{drifted: true}, nil
	case err != nil:
		return objectComparison{}, reads.Unseen(reads.Because("reading "+reads.RefOf(want).String(), err))
	case !ours:
		return objectComparison{foreign: new(in.planOf(ctx, want, live).takeover())}, nil
	}
	change, _, _, err := manager(alreadyRead{in.clientOf(want), live}).Diff(ctx, want, comparing())
	if err != nil {
		return objectComparison{}, reads.Unseen(reads.Because("comparing "+reads.RefOf(want).String(), err))
	}
	result := objectComparison{drifted: change.Action != ssa.UnchangedAction}
	if manifest.IsWorkload(want.GetKind()) {
		result.workload = &seenWorkload{live, mark, at}
	}
	return result, nil
}

// alreadyRead spares the engine to read what was read a moment ago.
type alreadyRead struct {
	client.Client

	live *unstructured.Unstructured
}

// Get implements client.Reader.
func (a alreadyRead) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	into, ok := object.(*unstructured.Unstructured)
	if !ok || key != client.ObjectKeyFromObject(a.live) || into.GroupVersionKind() != a.live.GroupVersionKind() {
		return a.Client.Get(ctx, key, object, options...)
	}
	a.live.DeepCopyInto(into)
	return nil
}

// comparing leaves out what the holder of a Lease writes: the engine reads twice, and a renewal in between is no one's change.
func comparing() ssa.DiffOptions {
	options := ssa.DefaultDiffOptions()
	options.DriftIgnoreRules = []jsondiff.IgnoreRule{{Paths: []string{"/spec"}, Selector: &jsondiff.Selector{Kind: "^Lease$"}}}
	return options
}

func digestOf(set manifest.Set, inventory []InventoryEntry, generations []int64) (string, error) {
	data, err := json.Marshal([]any{set.Objects, inventory, generations})
	if err != nil {
		return "", fmt.Errorf("encode the addons of version %s: %w", set.Version, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
