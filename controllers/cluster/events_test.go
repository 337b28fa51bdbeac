package cluster

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

// told is what a pass tells: its events and its metrics.
type told struct {
	reconciler *Reconciler
	recorder   *events.FakeRecorder
	registry   *prometheus.Registry
}

func newTold(t *testing.T) told {
	t.Helper()
	registry := prometheus.NewRegistry()
	metrics, err := NewMetrics(registry)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	recorder := events.NewFakeRecorder(10)
	return told{&Reconciler{Observer: &Observer{}, Recorder: recorder, Metrics: metrics}, recorder, registry}
}

func (o told) events() []string {
	var list []string
	for {
		select {
		case event := <-o.recorder.Events:
			list = append(list, event)
		default:
			return list
		}
	}
}

// series are the values by metric and label values; of a histogram its sum.
func (o told) series(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := o.registry.Gather()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetType() == dto.MetricType_GAUGE {
				continue // It is of all Clusters, and not of what a pass tells.
			}
			values[family.GetName()+labels(metric)] = metric.GetCounter().GetValue() + metric.GetHistogram().GetSampleSum()
		}
	}
	return values
}

func labels(metric *dto.Metric) (text string) {
	for _, label := range metric.GetLabel() {
		text += " " + label.GetValue()
	}
	return text
}

func TestTransitionsAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		origin ucv1.Origin
		before func(*ucv1.Cluster)
		step   ucv1.Step
		decide func(*migration.Decision)
		events []string
		series map[string]float64
	}{
		"nothing new": {
			ucv1.OriginMigrating, passes.AtStep(ucv1.StepRoll), ucv1.StepRoll, passes.Waiting("WaitingForMachines", "Waiting."),
			nil, map[string]float64{},
		},
		"a step, and how long the last one took": {
			ucv1.OriginMigrating, func(c *ucv1.Cluster) {
				passes.AtStep(ucv1.StepRoll)(c)
				c.Status.Timeline = []ucv1.TimelineEntry{
					passes.Entry(ucv1.TimelineStep, -60), passes.Entry(ucv1.TimelineStep, -10), passes.Entry(ucv1.TimelineAction, -5),
				}
			}, ucv1.StepVerify, passes.Waiting("WaitingForNodes", "Waiting."),
			[]string{"Normal StepChanged The current step is Verify."},
			map[string]float64{"ccm_migration_step_duration_seconds Roll": (10 * time.Minute).Seconds()},
		},
		"the first step, before which there was none": {
			ucv1.OriginExternal, passes.Unchanged, ucv1.StepAddons, passes.Waiting("RollingOut", "Waiting."),
			[]string{"Normal StepChanged The current step is Addons."}, map[string]float64{},
		},
		"a failure": {
			ucv1.OriginMigrating, passes.AtStep(ucv1.StepRoll), ucv1.StepRoll,
			passes.Failing("BlockedMachines", "Machine a is 100% blocked."),
			[]string{"Warning BlockedMachines Machine a is 100% blocked."},
			map[string]float64{"ccm_migration_stalled_total BlockedMachines": 1},
		},
		"a failure that goes on, not again": {
			ucv1.OriginMigrating, func(c *ucv1.Cluster) { passes.AtStep(ucv1.StepRoll)(c); passes.StalledAlready(c) }, ucv1.StepRoll,
			passes.Failing("BlockedMachines", "Blocked."), nil, map[string]float64{},
		},
		"the plan of an adoption": {
			ucv1.OriginMigrating, passes.AtStep(ucv1.StepAddons), ucv1.StepAddons, func(d *migration.Decision) {
				passes.Doing(outcome.ActionRecord, "Recording.")(d)
				d.Facts = &ucv1.Facts{Origin: ucv1.OriginMigrating, Adoption: &ucv1.AdoptionStatus{
					PlannedAt: metav1.NewTime(passes.Start()), Changes: []string{"Role a: rules", "Secret b: data[100%]"},
				}}
			},
			[]string{"Normal AdoptionPlanned Adopting changes: Role a: rules; Secret b: data[100%]"}, map[string]float64{},
		},
		"nothing of clusters that are in-tree": {
			ucv1.OriginInTree, passes.Unchanged, ucv1.StepInTree, passes.Nothing, nil, map[string]float64{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := newTold(t)
			s := passOf(passes.ClusterOf(tc.origin, tc.before), passes.Decided(tc.origin, tc.step, tc.decide))
			o.reconciler.reporter().tell(s, s.Cluster.Status, reported(t, s).Status)
			g.Expect(o.events()).To(Equal(tc.events))
			g.Expect(o.series(t)).To(Equal(tc.series))
		})
	}
}

func TestHaltsAndTheirEndsAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(*ucv1.Cluster)
		decide func(*migration.Decision)
		want   string
	}{
		"the end of a failure": {passes.StalledAlready, passes.Waiting("WaitingForMachines", "Waiting."),
			"Normal Resumed No one has to act any " +
				"more: BlockedMachines is over."},
		"a pause": {passes.Paused, passes.Nothing, "Normal Paused spec.paused was set: the controller changes nothing. By anna."},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTold(t)
			s := passOf(
				passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepRoll), tc.before),
				passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, tc.decide),
			)
			s.PausedBy = "anna"
			o.reconciler.reporter().tell(s, s.Cluster.Status, reported(t, s).Status)
			NewWithT(t).Expect(o.events()).To(Equal([]string{tc.want}))
		})
	}
}

// Who deletes a Cluster is told once that it waits, and for what; and when it goes, why it may.
func TestDeletionsAreTold(t *testing.T) {
	g := NewWithT(t)
	o := newTold(t)
	leaves := func(d *migration.Decision) {
		passes.Waiting("ProvingSilence", "Pod a may run cloud loops.")(d)
		d.Leaving = "The Cluster is being deleted; it goes when KCM is proven silent."
	}
	before := passes.ClusterOf(ucv1.OriginMigrating, passes.AtStep(ucv1.StepHandover), passes.Deleted)
	before.Generation++
	s := passOf(before, passes.Decided(ucv1.OriginMigrating, ucv1.StepHandover, leaves))
	after := reported(t, s)
	o.reconciler.reporter().tell(s, before.Status, after.Status)
	g.Expect(o.events()).To(Equal([]string{"Warning Deleting The Cluster is being deleted; it goes when KCM is proven silent."}))

	s = passOf(after, passes.Decided(ucv1.OriginMigrating, ucv1.StepHandover, leaves))
	o.reconciler.reporter().tell(s, after.Status, reported(t, s).Status)
	g.Expect(o.events()).To(BeEmpty(), "once")

	s = passOf(after,
		passes.Decided(ucv1.OriginMigrating, ucv1.StepHandover, passes.Doing(outcome.ActionRelease, "Letting the Cluster go: its "+
			"control plane is gone.")))
	s.ActErr = errors.New("the API server is gone")
	report := func() { _ = o.reconciler.reporter().report(t.Context(), s) }
	g.Expect(report).To(Panic(), "it goes on to write a status, which this test has no client for")
	g.Expect(o.events()).To(BeEmpty(), "it is not let go of")
	s.ActErr = nil
	g.Expect(o.reconciler.reporter().report(t.Context(), s)).To(Succeed())
	g.Expect(o.events()).To(Equal([]string{"Normal Released Letting the Cluster go: its control plane is gone."}))
}

func TestActionsAreCounted(t *testing.T) {
	g := NewWithT(t)
	o := newTold(t)
	s := passOf(
		passes.ClusterOf(ucv1.OriginMigrating),
		passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Doing(outcome.ActionRecord, "Recording.")),
	)
	g.Expect(o.reconciler.actor().act(t.Context(), s)).To(Succeed())
	o.reconciler.Metrics.acted(outcome.ActionOpenFence, errors.New("no"))
	g.Expect(o.series(t)).To(Equal(map[string]float64{
		"ccm_migration_actions_total Record done": 1, "ccm_migration_actions_total OpenFence error": 1,
	}))
}

func TestSamplesAreCounted(t *testing.T) {
	counts := func(since int64, within, missed int32) *ucv1.SLOStatus {
		return &ucv1.SLOStatus{
			Since:      new(metav1.Unix(since, 0)),
			Indicators: []ucv1.SLOIndicator{{Name: "TaintRemoval", Within: within, Missed: missed}},
		}
	}
	for name, tc := range map[string]struct {
		before, after  *ucv1.SLOStatus
		within, missed float64
	}{
		"the first ones":                     {nil, counts(1, 3, 1), 3, 1},
		"only what is new":                   {counts(1, 3, 1), counts(1, 5, 1), 2, 0},
		"all that came since a person asked": {counts(1, 3, 1), counts(2, 2, 1), 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTold(t)
			s := passOf(passes.ClusterOf(ucv1.OriginMigrating), passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Nothing))
			o.reconciler.reporter().tell(
				s,
				ucv1.ClusterStatus{Facts: ucv1.Facts{SLO: tc.before}},
				ucv1.ClusterStatus{Facts: ucv1.Facts{SLO: tc.after}},
			)
			NewWithT(t).Expect(o.series(t)).To(And(
				HaveKeyWithValue("ccm_migration_slo_samples_total TaintRemoval within", tc.within),
				HaveKeyWithValue("ccm_migration_slo_samples_total TaintRemoval missed", tc.missed),
				HaveKeyWithValue("ccm_migration_slo_samples_total TaintRemoval unsure", 0.0)))
		})
	}
}

func TestAnActionThatIsNotKnownIsAnError(t *testing.T) {
	g := NewWithT(t)
	o := newTold(t)
	s := passOf(
		passes.ClusterOf(ucv1.OriginMigrating), passes.Decided(ucv1.OriginMigrating, ucv1.StepRoll, passes.Doing("Dance", "Dancing.")),
	)
	g.Expect(o.reconciler.actor().act(t.Context(), s)).To(MatchError("Dancing: action Dance is not known"))
}

func TestMetricsAreRegisteredOnce(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	_, err := NewMetrics(registry)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = NewMetrics(registry)
	g.Expect(err).To(HaveOccurred())
}
