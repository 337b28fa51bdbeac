package fleet

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// guide is the fleet that docs/fleet.md goes through: 300 Clusters, and the FleetMigration of config/samples.
type guide struct {
	at       time.Time
	clusters []ucv1.Cluster
	fm       *ucv1.FleetMigration
}

// newGuide is before anything has started.
func newGuide(t *testing.T, at time.Time) *guide {
	t.Helper()
	text, err := os.ReadFile("../../../config/samples/fleet_migration.yaml")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	g := &guide{at: at, fm: &ucv1.FleetMigration{}}
	NewWithT(t).Expect(yaml.UnmarshalStrict(text, g.fm)).To(Succeed())
	g.fm.UID, g.fm.Generation, g.fm.CreationTimestamp = "uid-openstack", 3, *g.ago(14 * 24 * time.Hour)
	for i := range 300 {
		tier := "prod"
		switch {
		case i < 5:
			tier = "canary"
		case i < 50:
			tier = "staging"
		}
		c := waiting(fmt.Sprintf("c%03d", i), tier, int32(3+i*7%10))
		geo := []string{"eu", "eu", "us"}[i%3]
		c.Labels["geo"], c.Labels["topology.kubernetes.io/region"] = geo, fmt.Sprintf("%s-%d", geo, 1+i/3%2)
		c.Spec.Version, c.Spec.Features.ExternalCloudProvider = fmt.Sprintf("1.%d.14", 24+i%2), nil
		c.Status.LookAhead.LookedAt = g.ago(30 * time.Minute)
		g.clusters = append(g.clusters, c)
	}
	withFindings(&g.clusters[60])
	withFindings(&g.clusters[61])
	return g
}

func (g *guide) ago(d time.Duration) *metav1.Time { return new(metav1.NewTime(g.at.Add(-d))) }

// started for a Cluster, and done if that is not 0, so long ago.
func (g *guide) started(i int, started, done time.Duration) {
	c := &g.clusters[i]
	c.Spec.Features.ExternalCloudProvider = new(true)
	a := c.Status.Admission
	a.State, a.AdmittedAt, a.Directive, c.Status.StartedAt = ucv1.AdmissionAdmitted, g.ago(started), ucv1.DirectiveProceed, g.ago(started)
	if a.Wave == "prod" {
		a.Wave = "rest"
	}
	c.Status.LookAhead, c.Status.Conditions, c.Status.CompletedAt = nil, nil, nil
	if done > 0 {
		c.Status.CompletedAt = g.ago(done)
		g.says(c, ucv1.ReadyCondition, ucv1.MigratedReason, done)
		g.says(c, ucv1.MachineDeploymentsRolledOutCondition, ucv1.HoldsReason, done)
	}
}

func (g *guide) stalled(i int, reason string, since time.Duration) {
	g.says(&g.clusters[i], ucv1.StalledCondition, reason, since)
}

func (g *guide) says(c *ucv1.Cluster, kind, reason string, since time.Duration) {
	condition(c, kind, metav1.ConditionTrue, reason, 0)
	c.Status.Conditions[len(c.Status.Conditions)-1].LastTransitionTime = *g.ago(since)
}

// opened a wave so long ago, and passed it if that is not 0.
func (g *guide) opened(wave string, opened, passed time.Duration) {
	status := ucv1.WaveStatus{Name: wave, OpenedAt: g.ago(opened)}
	if passed > 0 {
		status.PassedAt = g.ago(passed)
	}
	g.fm.Status.Waves = append(g.fm.Status.Waves, status)
}

func (g *guide) view() *view {
	return newView(seen{
		clusters: g.clusters, migrations: []*ucv1.FleetMigration{g.fm}, host: "https://management", at: g.at,
		namespaces: map[string]labels.Set{},
	}, func(string) bool { return true })
}

// The scenes of the guide, in their order.

const day = 24 * time.Hour

func beforeTheStart(t *testing.T) *guide {
	t.Helper()
	return newGuide(t, time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))
}

// canariesSoak: the first night is over.
func canariesSoak(t *testing.T) *guide {
	t.Helper()
	g := newGuide(t, time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	g.fm.Spec.Mode = ucv1.FleetRun
	g.opened("canary", 12*time.Hour, 0)
	for i, started := range []string{"12h", "10h20m", "6h", "11h10m", "9h30m"} {
		ago, err := time.ParseDuration(started)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		g.started(i, ago, ago-48*time.Minute)
	}
	return g
}

// restAsks: one Cluster of staging failed.
func restAsks(t *testing.T) *guide {
	t.Helper()
	g := newGuide(t, time.Date(2026, 12, 8, 9, 0, 0, 0, time.UTC))
	g.fm.Spec.Mode = ucv1.FleetRun
	g.opened("canary", 7*day+11*time.Hour, 6*day+5*time.Hour)
	g.opened("staging", 6*day+5*time.Hour, 2*time.Hour)
	for i := range 50 {
		done := 5*day - time.Duration(i)*time.Hour
		g.started(i, done+55*time.Minute, done)
	}
	g.started(18, 4*day+10*time.Hour, 0)
	g.stalled(18, ucv1.BlockedMachinesReason, 4*day+8*time.Hour)
	return g
}

// haltedAtNight: three Clusters of the last wave have failed, and two may.
func haltedAtNight(t *testing.T) *guide {
	t.Helper()
	g := restAsks(t)
	g.at = time.Date(2026, 12, 10, 2, 40, 0, 0, time.UTC)
	for i := range g.clusters {
		if look := g.clusters[i].Status.LookAhead; look != nil {
			look.LookedAt = g.ago(30 * time.Minute)
		}
	}
	g.opened("rest", 40*time.Hour, 0)
	for i := 50; i < 74; i++ {
		if i != 60 && i != 61 {
			started := 29*time.Hour + 30*time.Minute - time.Duration(i-50)*10*time.Minute
			g.started(i, started, started-48*time.Minute)
		}
	}
	for i, reason := range map[int]string{
		75: ucv1.NodesNotInitializedReason, 78: ucv1.BlockedMachinesReason, 79: ucv1.NodesNotInitializedReason,
	} {
		g.started(i, 3*time.Hour, 0)
		g.stalled(i, reason, time.Duration(105-i)*time.Minute)
	}
	for _, i := range []int{82, 84, 87} {
		g.started(i, 115*time.Minute, 0)
	}
	g.fm.Status.Halt = g.view().plan.Migrations[0].Halt
	g.fm.Status.Halt.At = *g.ago(11 * time.Minute)
	return g
}

// TestTheGuideShowsWhatTheCommandsPrint compares what docs/fleet.md shows with golden files, which the commands print.
func TestTheGuideShowsWhatTheCommandsPrint(t *testing.T) {
	page, err := os.ReadFile("../../../docs/fleet.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		command string
		scene   func(*testing.T) *guide
		report  func(*view) (printer, error)
	}{
		"plan": {"plan openstack", beforeTheStart, func(v *view) (printer, error) { return newPlanReport(v, "openstack", nil) }},
		"soak": {"status openstack", canariesSoak, func(v *view) (printer, error) { return newStatusReport(v, "openstack") }},
		"why": {"why user-c020/c020", canariesSoak, func(v *view) (printer, error) {
			return newWhyReport(v, "user-c020", "c020")
		}},
		"gate": {"gate openstack rest", restAsks, func(v *view) (printer, error) { return newGateReport(v, "openstack", "rest") }},
		"halt": {"status openstack", haltedAtNight, func(v *view) (printer, error) { return newStatusReport(v, "openstack") }},
		"failures": {"failures openstack --by reason,version", haltedAtNight, func(v *view) (printer, error) {
			return newFailuresReport(v, "openstack", []string{byReason, byVersion})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := tc.report(tc.scene(t).view())
			text := printed(t, made, err, "text", plain())
			expectGolden(t, "guide/"+name+".txt", text)
			shown := "```console\n$ ccm-migration-controller fleet " + tc.command + "\n" + text + "```\n"
			NewWithT(t).Expect(strings.Contains(string(page), shown)).To(BeTrue(), "docs/fleet.md does not show:\n%s", shown)
		})
	}
}
