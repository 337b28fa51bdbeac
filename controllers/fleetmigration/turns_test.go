package fleetmigration_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

func (w *world) turn(name string) string {
	w.t.Helper()
	turn := w.reconciler.Turns.Turn(w.t.Context(), w.get(name), w.clock.Now())
	switch {
	case turn.IsAbsent():
		return "may start"
	case turn.IsUnknown():
		return "unknown: " + turn.Why()
	}
	return turn.Value().Reason + ": " + turn.Value().Message
}

func unreadable(fm *ucv1.FleetMigration) {
	fm.Spec.ClusterSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Is"}}}
}

func selectsNone(fm *ucv1.FleetMigration) { fm.Spec.ClusterSelector = selecting("team", "none") }

func immediate(c *ucv1.Cluster) { c.Spec.Admission = ucv1.ImmediateClusterAdmission }

func inNamespace(name string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) { c.Namespace = name }
}

func TestWhoMayStart(t *testing.T) {
	const mayStart = "may start"
	other := oneByOne(func(fm *ucv1.FleetMigration) { fm.Name, fm.UID = "other", "uid-other" })
	made := oneByOne(func(fm *ucv1.FleetMigration) { fm.UID = "uid-made-again" })
	for name, test := range map[string]struct {
		fms     []*ucv1.FleetMigration
		cluster *ucv1.Cluster
		policy  fleet.Policy
		bound   bool
		want    string
	}{
		"one that no FleetMigration selects, in a while":   {cluster: candidate("a"), want: "Settling"},
		"not where that is required":                       {cluster: candidate("a"), policy: fleet.Required, want: "NoFleetMigration"},
		"not while a policy is not known":                  {cluster: candidate("a"), policy: "Maybe", want: "NoFleetMigration"},
		"one whose owner wants it at once":                 {cluster: candidate("a", immediate), policy: fleet.Required, want: mayStart},
		"also when a FleetMigration has queued it":         {cluster: candidate("a", immediate, claimed("Queued")), want: mayStart},
		"one that was admitted":                            {cluster: candidate("a", claimed("Admitted")), policy: fleet.Required, want: mayStart},
		"also when its FleetMigration is gone":             {cluster: candidate("a", claimed("Admitted")), want: mayStart},
		"not one whose admission is in no state":           {cluster: candidate("a", claimed("")), want: "FleetMigrationGone"},
		"not one that a FleetMigration selects":            {fms: []*ucv1.FleetMigration{oneByOne()}, cluster: candidate("a"), want: "is about to queue it"},
		"one that none of them selects":                    {fms: []*ucv1.FleetMigration{oneByOne(selectsNone)}, cluster: candidate("a"), want: "Settling"},
		"not while a selector cannot be read":              {fms: []*ucv1.FleetMigration{oneByOne(unreadable)}, cluster: candidate("a"), want: "unknown: spec.clusterSelector of FleetMigration fm"},
		"not while its namespace cannot be read":           {fms: []*ucv1.FleetMigration{oneByOne()}, cluster: candidate("a", inNamespace("lost")), want: "unknown: namespace lost"},
		"not one that is queued":                           {fms: []*ucv1.FleetMigration{oneByOne()}, cluster: candidate("a", claimed("Queued")), want: "Queued: FleetMigration fm has queued the cluster in wave all."},
		"not one whose FleetMigration is gone":             {cluster: candidate("a", claimed("Queued")), want: "FleetMigrationGone"},
		"not when another one has its name":                {fms: []*ucv1.FleetMigration{made}, cluster: candidate("a", claimed("Queued")), want: "FleetMigrationGone"},
		"a claim is heeded whoever selects it":             {fms: []*ucv1.FleetMigration{other}, cluster: candidate("a", claimed("Queued")), want: "FleetMigrationGone"},
		"a bound manager heeds claims":                     {cluster: candidate("a", claimed("Queued")), bound: true, want: "Queued: FleetMigration fm has queued the cluster."},
		"and admissions":                                   {cluster: candidate("a", claimed("Admitted")), bound: true, policy: fleet.Required, want: mayStart},
		"and reads no FleetMigration":                      {fms: []*ucv1.FleetMigration{oneByOne(unreadable)}, cluster: candidate("a"), bound: true, want: "Settling"},
		"a bound manager where a FleetMigration is needed": {cluster: candidate("a"), bound: true, policy: fleet.Required, want: "NoFleetMigration"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{test.cluster}
			for _, fm := range test.fms {
				objects = append(objects, fm)
			}
			w := newWorld(t, objects...)
			turns := w.reconciler.Turns
			turns.Bound = test.bound
			if test.policy != "" {
				turns.Policy = test.policy
			}
			turn := turns.Turn(t.Context(), test.cluster, noon())
			got := turn.Value().Reason + ": " + turn.Value().Message
			switch {
			case turn.IsAbsent():
				got = mayStart
			case turn.IsUnknown():
				got = "unknown: " + turn.Why()
			}
			w.g.Expect(got).To(ContainSubstring(test.want))
		})
	}
}

// Who selects a Cluster that it queued no longer is told, and no Cluster starts because of that.
func TestAClusterIsWokenWhenItsTurnIsAnother(t *testing.T) {
	w := newWorld(t, oneByOne(func(fm *ucv1.FleetMigration) { fm.Spec.Mode = ucv1.FleetHold }), candidate("a", claimed("Queued")))
	turns := w.reconciler.Turns
	w.g.Expect(w.pass().RequeueAfter).To(BeNumerically("<=", 30*time.Second))
	w.g.Expect(turns.Soon("uid-a")).To(BeFalse(), "others may come that are before it")
	w.clock.Step(30 * time.Second)
	w.pass()
	w.g.Expect(turns.Soon("uid-a")).To(BeTrue())
	w.g.Expect(turns.Wakes()).To(Receive(HaveField("Object.Name", "a")))
	w.pass()
	w.g.Expect(turns.Wakes()).NotTo(Receive(), "nothing is new")
	fm := w.fm()
	selectsNone(fm)
	fm.Generation++
	w.g.Expect(w.client.Update(t.Context(), fm)).To(Succeed())
	w.pass()
	w.g.Expect(turns.Wakes()).To(Receive(HaveField("Object.Name", "a")))
	w.g.Expect(turns.Soon("uid-a")).To(BeFalse())
	w.g.Expect(w.turn("a")).To(ContainSubstring("NotSelected"))
}

// It would wait for ever, and no one would say so.
func TestAClusterThatNoFleetMigrationQueues(t *testing.T) {
	w := newWorld(t, oneByOne(), candidate("a", func(c *ucv1.Cluster) { c.Spec.Cloud.ProviderName = "cumulus" }))
	w.pass()
	w.g.Expect(w.writes).NotTo(ContainElement("claim a"))
	w.g.Expect(w.turn("a")).To(ContainSubstring("does not queue it, because no provider cumulus was ever in-tree"))
}

// No one reads the wakes of a manager that is starting.
func TestMoreWakesThanAnyoneReads(t *testing.T) {
	w := newWorld(t)
	turns := w.reconciler.Turns
	for i := range 1100 {
		state := ucv1.AdmissionQueued
		c := candidate("c"+time.Duration(i).String(), claimed(state))
		w.g.Expect(w.client.Create(t.Context(), c)).To(Succeed())
	}
	w.pass()
	w.g.Expect(turns.Wakes()).To(HaveLen(1024))
}

func TestFleetMigrationsThatCannotBeReadHoldClustersBack(t *testing.T) {
	w := newWorld(t, candidate("a"))
	w.reconciler.Turns.Client = interceptor.NewClient(w.client, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, asked := list.(*ucv1.FleetMigrationList); asked {
				return errKilled
			}
			return c.List(ctx, list, options...)
		},
	})
	w.turn("a")
	w.clock.Step(time.Minute)
	w.g.Expect(w.turn("a")).To(Equal("unknown: the FleetMigrations: killed"))
}
