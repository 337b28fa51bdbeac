package machinecontroller

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// askedAgain is when a write that was refused is asked about again although its MachineDeployment did not change: it is the cloud
// that may have. So old may a refusal be, also when a person is called for it.
const askedAgain = time.Minute

// refusals are the writes of ours that a webhook or a policy refused, by the UID of the MachineDeployment that they are about:
// what is changed next is chosen among the others. A new session of the user cluster knows of none, and is refused once more.
type refusals struct {
	mu      sync.Mutex
	refused map[string]refusal
}

// refusal of a write, which again does on the MachineDeployment as it is then.
type refusal struct {
	observation.Refusal

	again   write
	version string
	askedAt time.Time
	// accepted says that a dry run was: the write itself shows whether that is so. A webhook may let every dry run pass.
	accepted bool
}

// write is a write that rests on this version of its MachineDeployment.
type write func(ctx context.Context, c client.Client, version string) error

// refuse notes who refused a write. A dry run that was accepted a moment before does not begin another one.
func (r *refusals) refuse(ref observation.Ref, noted refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	noted.Since = noted.askedAt
	if before, known := r.refused[ref.UID]; known && noted.goesOn(before.Refusal) && !before.lapsed(noted.askedAt) {
		noted.Since = before.Since
	}
	if r.refused == nil {
		r.refused = map[string]refusal{}
	}
	r.refused[ref.UID] = noted
}

// goesOn says that who refused a write refuses the same one still. Of steps, the next Machine or MachineSet counts as the same.
func (r refusal) goesOn(before observation.Refusal) bool {
	return r.Of == before.Of && (r.Of == observation.RefusedStep || r.Asked == before.Asked)
}

func (r *refusals) forget(ref observation.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.refused, ref.UID)
}

// of those that are there; others are forgotten.
func (r *refusals) of(deployments []observation.MachineDeployment, now time.Time) map[string]refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	still := map[string]refusal{}
	for _, d := range deployments {
		if refused, known := r.refused[d.UID]; known && !refused.lapsed(now) {
			still[d.UID] = refused
		}
	}
	r.refused = still
	return maps.Clone(still)
}

// lapsed: it was accepted, and whatever was written since was not refused.
func (r refusal) lapsed(now time.Time) bool { return r.accepted && now.Sub(r.askedAt) > 2*askedAgain }

// changed says that its MachineDeployment is another version. What is refused without one is held for a minute in any case: a dry
// run may be accepted, and the write refused, each time.
func (r refusal) changed(d observation.MachineDeployment) bool {
	return r.version != "" && r.version != d.Version
}

// note what became of a write about a MachineDeployment, which is asked about again by a dry run when it was refused.
func (a *Adapter) note(ref observation.Ref, may refusal, err error) error {
	switch {
	case err == nil:
		a.refusals.forget(ref)
	case isRefusal(err):
		may.By, may.askedAt = refuser(err), a.clock.Now()
		a.refusals.refuse(ref, may)
	}
	return err
}

// noteRefusals says which MachineDeployments may not be changed. A refusal that is old, or of another version, is asked about, as
// long as there is time: a webhook may ask the cloud for each of them.
func (a *Adapter) noteRefusals(ctx context.Context, deployments []observation.MachineDeployment) {
	began := a.clock.Now()
	known := a.refusals.of(deployments, began)
	if len(known) == 0 {
		return
	}
	longestFirst := slices.SortedStableFunc(slices.Values(deployments), func(x, y observation.MachineDeployment) int {
		return known[x.UID].askedAt.Compare(known[y.UID].askedAt)
	})
	for _, d := range longestFirst {
		refused, is := known[d.UID]
		asks := is && !refused.accepted && (refused.changed(d) || began.Sub(refused.askedAt) >= askedAgain)
		if asks && a.clock.Since(began) < writesTimeout {
			a.askAgain(ctx, d, refused)
		}
	}
	known = a.refusals.of(deployments, a.clock.Now())
	for i := range deployments {
		if refused := known[deployments[i].UID]; !refused.accepted {
			deployments[i].Refusal = refused.Refusal
		}
	}
}

// askAgain about a write that was refused. Where no one answers, it is so still. Of what is gone, no one knows. What was changed
// meanwhile is asked about at the next look.
func (a *Adapter) askAgain(ctx context.Context, d observation.MachineDeployment, refused refusal) {
	err := refused.again(ctx, client.NewDryRunClient(a.client), d.Version)
	refused.askedAt = a.clock.Now()
	switch {
	case isRefusal(err): // Whatever its code is.
		refused.version, refused.By = d.Version, refuser(err)
	case err == nil || saysNoDryRun(err) || isGone(err):
		refused.accepted = true
	case !apierrors.IsConflict(err):
		refused.version = d.Version
	}
	a.refusals.refuse(d.Ref, refused)
}

// isGone also says that another object is there under that name: the API server calls another UID an invalid change.
// https://github.com/kubernetes/apimachinery/blob/v0.36.4/pkg/api/validation/objectmeta.go#L332
func isGone(err error) bool {
	status := apierrors.APIStatus(nil)
	if apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return apierrors.IsNotFound(err)
	}
	causes := status.Status().Details.Causes
	return slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" })
}

func isRefusal(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "denied the request") || strings.Contains(err.Error(), "denied request"))
}

// saysNoDryRun: only the write itself can tell whether such a webhook refuses it.
func saysNoDryRun(err error) bool { return strings.Contains(err.Error(), "does not support dry run") }

// refuser names the webhook or policy. What it says is not quoted: a providerSpec may have credentials in it.
func refuser(err error) string {
	if name := regexp.MustCompile(`(?:webhook "|\w*Policy ')[-.a-zA-Z0-9]+`).FindString(err.Error()); name != "" {
		return strings.NewReplacer(`"`, "", "'", "").Replace(name)
	}
	return "an admission plugin"
}
