package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// refusing answers every status with an error, or keeps it.
type refusing struct {
	client.SubResourceWriter

	err     error
	written []ucv1.TimelineEntry
	applied ucv1.ClusterStatus
}

// statusOnly is a client that only writes statuses.
type statusOnly struct {
	client.Client

	status *refusing
}

func (c statusOnly) Status() client.SubResourceWriter { return c.status }

func (r *refusing) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	if r.err != nil {
		return r.err
	}
	content, err := json.Marshal(object)
	cluster := &ucv1.Cluster{}
	err = errors.Join(err, json.Unmarshal(content, cluster))
	r.written, r.applied = cluster.Status.Timeline, cluster.Status
	return err
}

func TestAVerbWhoseStatusWasRefusedIsToldLater(t *testing.T) {
	g, o := NewWithT(t), newTold(t)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "clusters"}, "alpha", errors.New("the cache is behind"))
	status := &refusing{err: conflict}
	o.reconciler.Client = statusOnly{status: status}
	pass := func(change func(*migration.Decision)) *scope {
		return passOf(
			passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepHandover)),
			passes.Decided(ucv1.OriginMigrating, ucv1.StepVerify, change),
		)
	}
	g.Expect(o.reconciler.reporter().report(t.Context(), pass(passes.Doing(outcome.ActionOpenFence, "Opening.")))).To(
		MatchError(conflict),
	)
	told := func() (count int) {
		for _, entry := range status.written {
			if entry.Action == string(outcome.ActionOpenFence) {
				count++
			}
		}
		return count
	}
	for _, err := range []error{conflict, nil} {
		status.err = err
		g.Expect(client.IgnoreNotFound(o.reconciler.reporter().report(t.Context(), pass(passes.Nothing)))).To(
			Or(Succeed(), MatchError(conflict)),
		)
	}
	g.Expect(told()).To(Equal(1), "after two refusals")
	g.Expect(o.reconciler.reporter().report(t.Context(), pass(passes.Nothing))).To(Succeed())
	g.Expect(told()).To(BeZero(), "it is told once")
}

// The fleet's own manager has the admission: who applies it, too, would keep it when that one takes it back.
func TestTheAdmissionIsNotApplied(t *testing.T) {
	g, status := NewWithT(t), &refusing{}
	c := passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepHandover))
	c.Status.Admission = &ucv1.AdmissionStatus{FleetMigration: "fm", UID: "uid", State: ucv1.AdmissionAdmitted}
	g.Expect(writer{client: statusOnly{status: status}}.applyStatus(t.Context(), c, c.Status)).To(Succeed())
	g.Expect(status.applied.Step).To(Equal(ucv1.StepHandover))
	g.Expect(status.applied.Admission).To(BeNil())
}

// fleetSays what the turn of each Cluster is.
type fleetSays struct {
	Turns

	turn observation.Observed[observation.Turn]
}

func (f fleetSays) Turn(context.Context, *ucv1.Cluster, time.Time) observation.Observed[observation.Turn] {
	return f.turn
}

func TestTheFleetIsAskedForTheTurnOfACluster(t *testing.T) {
	g := NewWithT(t)
	r := &Reconciler{Turns: fleetSays{turn: observation.Unknown[observation.Turn]("timeout")}}
	c := passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepAdmitted))
	c.Status.StartedAt = nil
	s := passOf(c, migration.Decision{})
	g.Expect(r.turnOf(t.Context(), s).IsUnknown()).To(BeTrue())
	c.Status.StartedAt = &metav1.Time{Time: passes.Start()}
	g.Expect(r.turnOf(t.Context(), s).IsAbsent()).To(BeTrue(), "what has started goes on")
}
