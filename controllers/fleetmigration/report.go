package fleetmigration

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// pass writes what was decided.
type pass struct {
	*Reconciler

	seen seen
	plan fleet.Plan
	now  time.Time
	// refused are the FleetMigrations whose status could not be written, and why: none of their Clusters starts.
	refused map[string]error
	// again is when the next pass has to be at the latest; zero: when something changes.
	again time.Duration
}

func (p *pass) lookAfter(d time.Duration) {
	if p.again == 0 || d < p.again {
		p.again = d
	}
}

// result is the only place where a pass turns into a ctrl.Result.
func (p *pass) result() ctrl.Result {
	if !p.plan.WakeAt.IsZero() {
		p.lookAfter(max(settles, p.plan.WakeAt.Sub(p.Clock.Now())))
	}
	if len(p.plan.Migrations) > 0 {
		p.lookAfter(decidesAgain)
	}
	return ctrl.Result{RequeueAfter: p.again}
}

// report the status of each FleetMigration.
func (p *pass) report(ctx context.Context) {
	if p.reported == nil {
		p.reported = map[types.UID]time.Time{}
	}
	gone := func(uid types.UID) bool { return p.seen.migrations[uid] == nil }
	maps.DeleteFunc(p.reported, func(uid types.UID, _ time.Time) bool { return gone(uid) })
	maps.DeleteFunc(p.forecasts.at, func(uid types.UID, _ time.Time) bool { return gone(uid) })
	maps.DeleteFunc(p.forecasts.of, func(uid types.UID, _ *ucv1.FleetForecast) bool { return gone(uid) })
	for i := range p.plan.Migrations {
		planned := &p.plan.Migrations[i]
		fm := p.seen.migrations[types.UID(planned.UID)]
		err := p.keep(ctx, fm)
		if err == nil {
			err = p.reportOne(ctx, fm, planned.Status)
		}
		if err == nil {
			continue
		}
		p.refused[planned.UID] = err
		switch {
		case apierrors.IsNotFound(err): // It is gone, and lets no Cluster start. Its deletion wakes the next pass.
		case apierrors.IsConflict(err):
			p.lookAfter(settles)
		default:
			p.lookAfter(retries)
			log.FromContext(ctx).Error(err, "A FleetMigration could not be written, so none of its Clusters is",
				"fleetMigration", fm.Name)
		}
	}
}

// keep a FleetMigration while Clusters wait in it, or until their rolls go on; let one go that is being deleted otherwise.
func (p *pass) keep(ctx context.Context, fm *ucv1.FleetMigration) error {
	deleting, kept := fm.DeletionTimestamp != nil, controllerutil.ContainsFinalizer(fm, ucv1.FleetFinalizer)
	switch {
	case !deleting && !kept:
		return p.patchFinalizer(ctx, fm, controllerutil.AddFinalizer)
	case deleting && kept && !p.has(fm, held) && (fleet.Released(fm) || !p.has(fm, queued)):
		return p.patchFinalizer(ctx, fm, controllerutil.RemoveFinalizer)
	}
	return nil
}

func (p *pass) patchFinalizer(
	ctx context.Context,
	fm *ucv1.FleetMigration,
	change func(client.Object, string) bool,
) error {
	before := fm.DeepCopy()
	change(fm, ucv1.FleetFinalizer)
	return p.Client.Patch(ctx, fm, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// has any Cluster that the FleetMigration has claimed, and that is so.
func (p *pass) has(fm *ucv1.FleetMigration, is func(*fleet.Member) bool) bool {
	return slices.ContainsFunc(p.seen.Members, func(m fleet.Member) bool {
		return m.Admission != nil && m.Admission.UID == string(fm.UID) && is(&m)
	})
}

func queued(m *fleet.Member) bool {
	return m.Admission.State == ucv1.AdmissionQueued && m.StartedAt.IsZero()
}

// held is one that no one would tell to go on if the FleetMigration were gone.
func held(m *fleet.Member) bool {
	return m.Admission.Directive == ucv1.DirectiveHoldRoll && m.CompletedAt.IsZero() && !m.RolledBack && m.OutOfScope == ""
}

// reportOne writes a status that has changed, under the version that the decision was made of. What differs in counts only waits.
func (p *pass) reportOne(ctx context.Context, fm *ucv1.FleetMigration, wanted ucv1.FleetMigrationStatus) error {
	if made, is := p.forecasts.of[fm.UID]; is {
		wanted.Forecast = made
	}
	if equality.Semantic.DeepEqual(fm.Status, wanted) {
		return nil
	}
	// A clock that went back must not put it off for as long.
	if age := p.now.Sub(p.reported[fm.UID]); age >= 0 && age < reports && !urgent(fm.Status, wanted) {
		p.lookAfter(reports - age)
		return nil
	}
	before := fm.Status
	fm.Status = wanted
	if err := p.Client.Status().Update(ctx, fm); err != nil {
		return err
	}
	p.reported[fm.UID] = p.now
	if err := p.stored(ctx, fm, wanted.Admitting); err != nil {
		return err
	}
	p.tell(fm, before.Timeline, wanted.Timeline)
	return nil
}

// stored says that what is being admitted was kept. The answer to the write cannot tell: a field that is not in it stays in the
// object as it was sent.
func (p *pass) stored(ctx context.Context, fm *ucv1.FleetMigration, admitting []ucv1.AdmittingCluster) error {
	if len(admitting) == 0 {
		return nil
	}
	kept := &ucv1.FleetMigration{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(fm), kept); err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(kept.Status.Admitting, admitting) {
		return errOlderDefinition
	}
	return nil
}

// urgent says that more than counts has changed.
func urgent(before, after ucv1.FleetMigrationStatus) bool {
	verdict := func(s ucv1.FleetMigrationStatus) (of []string) {
		for _, condition := range s.Conditions {
			of = append(of, condition.Type, string(condition.Status), condition.Reason)
		}
		for _, wave := range s.Waves {
			of = append(of, wave.Name, string(wave.State))
		}
		return of
	}
	return before.ObservedGeneration != after.ObservedGeneration || !slices.Equal(verdict(before), verdict(after)) ||
		!equality.Semantic.DeepEqual(before.Halt, after.Halt) || !equality.Semantic.DeepEqual(before.Admitting, after.Admitting)
}

// tell of what is new in the timeline by events.
func (p *pass) tell(fm *ucv1.FleetMigration, before, after []ucv1.FleetEvent) {
	for _, entry := range after {
		if slices.Contains(before, entry) {
			continue
		}
		kind := corev1.EventTypeNormal
		if entry.Kind == "Halted" {
			kind = corev1.EventTypeWarning
		}
		p.Recorder.Eventf(fm, nil, kind, entry.Kind, "Decide", "%s", entry.Message)
	}
}
