package fleet

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

var update = flag.Bool("update", false, "write the golden files again")

// expectGolden compares with a file of testdata, or writes it. Nothing that is printed is wider than a terminal.
func expectGolden(t *testing.T, name, got string) {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join("testdata", name)
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred(), "go test ./internal/cli/fleet -update writes it")
	g.Expect(got).To(Equal(string(want)), "go test ./internal/cli/fleet -update writes %s again", path)
	if filepath.Ext(name) == ".txt" {
		for line := range strings.Lines(got) {
			g.Expect(utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", mostColumns), line)
		}
	}
}

// printed is what a report prints in a format.
func printed(t *testing.T, made printer, err error, format string, s terminal.Screen) string {
	t.Helper()
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	out := &bytes.Buffer{}
	g.Expect(terminal.Write(out, format, made, func(out io.Writer) error { return made.text(out, s) })).To(Succeed())
	return out.String()
}

func plain() terminal.Screen { return terminal.Screen{Width: mostColumns} }

// noon is a Thursday.
func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

func ago(d time.Duration) *metav1.Time { return new(metav1.NewTime(noon().Add(-d))) }

type change func(*ucv1.Cluster)

// waiting is a Cluster that FleetMigration openstack claimed and that nothing is wrong with.
func waiting(name, tier string, nodes int32, changes ...change) ucv1.Cluster {
	c := ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: "user-" + name, Name: name, UID: types.UID("uid-" + name), Generation: 2, Labels: map[string]string{
			"cloud": "openstack", "tier": tier, "region": "eu-1",
		},
	}}
	c.Spec.Version, c.Spec.Cloud.ProviderName, c.Spec.Features.ExternalCloudProvider = "1.30.14", "openstack", new(true)
	c.Spec.Cloud.ConfigSecretRef.Name = name + "-cloud-config"
	c.Status.Nodes = &ucv1.NodeCount{Total: nodes}
	c.Status.LookAhead = &ucv1.LookAheadStatus{LookedAt: ago(2 * time.Hour)}
	c.Status.Admission = &ucv1.AdmissionStatus{FleetMigration: "openstack", UID: "uid-openstack", Wave: tier, State: ucv1.AdmissionQueued}
	condition(&c, ucv1.ReadyToMigrateCondition, metav1.ConditionTrue, "Ready", 2*time.Hour)
	for _, change := range changes {
		change(&c)
	}
	return c
}

func condition(c *ucv1.Cluster, kind string, status metav1.ConditionStatus, reason string, since time.Duration) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, LastTransitionTime: *ago(since), ObservedGeneration: c.Generation,
	})
}

func startedBefore(since time.Duration) change {
	return func(c *ucv1.Cluster) {
		a := c.Status.Admission
		a.State, a.AdmittedAt, a.Directive, c.Status.StartedAt = ucv1.AdmissionAdmitted, ago(since), ucv1.DirectiveProceed, ago(since)
	}
}

func doneBefore(since, took time.Duration) change {
	return func(c *ucv1.Cluster) {
		startedBefore(since + took)(c)
		c.Status.CompletedAt = ago(since)
		condition(c, ucv1.ReadyCondition, metav1.ConditionTrue, ucv1.MigratedReason, since)
		condition(c, ucv1.MachineDeploymentsRolledOutCondition, metav1.ConditionTrue, ucv1.HoldsReason, since)
	}
}

func failedBefore(since time.Duration, reason string) change {
	return func(c *ucv1.Cluster) {
		startedBefore(since + time.Hour)(c)
		condition(c, ucv1.StalledCondition, metav1.ConditionTrue, reason, since)
	}
}

func withFindings(c *ucv1.Cluster) {
	c.Status.Conditions = nil
	condition(c, ucv1.ReadyToMigrateCondition, metav1.ConditionFalse, ucv1.FindingsReason, time.Hour)
}

func paused(c *ucv1.Cluster) { c.Spec.Paused = true }

func unclaimed(c *ucv1.Cluster) { c.Status.Admission, c.Labels = nil, nil }

func of(provider, version string) change {
	return func(c *ucv1.Cluster) { c.Spec.Cloud.ProviderName, c.Spec.Version = provider, version }
}

func selecting(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

// openstack has the waves canary, prod and rest, of which canary has passed.
func openstack(changes ...func(*ucv1.FleetMigration)) *ucv1.FleetMigration {
	fm := &ucv1.FleetMigration{
		TypeMeta: metav1.TypeMeta{APIVersion: ucv1.GroupVersion().String(), Kind: "FleetMigration"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "openstack", UID: "uid-openstack", Generation: 7, CreationTimestamp: *ago(90 * 24 * time.Hour),
		},
		Spec: ucv1.FleetMigrationSpec{
			Mode: ucv1.FleetRun, ClusterSelector: selecting("cloud", "openstack"),
			Waves: []ucv1.Wave{
				{Name: "canary", ClusterSelector: selecting("tier", "canary"), MaxConcurrency: new(intstr.FromInt32(2))},
				{
					Name: "prod", ClusterSelector: selecting("tier", "prod"), MaxConcurrency: new(intstr.FromInt32(4)),
					MaxFailures: new(intstr.FromInt32(1)),
				},
				{Name: "rest", ClusterSelector: selecting("tier", "rest"), Approval: ucv1.WaveApprovalRequired},
			},
			Budgets: []ucv1.FleetBudget{{Name: "region", Per: "region", MaxConcurrency: new(int32(2))}, {Name: "nodes", MaxNodes: new(int32(40))}},
		},
		Status: ucv1.FleetMigrationStatus{Waves: []ucv1.WaveStatus{
			{Name: "canary", OpenedAt: ago(72 * time.Hour), PassedAt: ago(50 * time.Hour)}, {Name: "prod", OpenedAt: ago(50 * time.Hour)},
		}},
	}
	for _, change := range changes {
		change(fm)
	}
	return fm
}

func withWindows(fm *ucv1.FleetMigration) {
	fm.Spec.Maintenance = ucv1.FleetMaintenance{
		Windows: []ucv1.FleetWindow{
			{MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "eu-nights", Schedule: "0 22 * * 1-5", DurationSeconds: 21600, TimeZone: "Europe/Berlin",
			}},
			{ClusterSelector: selecting("region", "ap-1"), MaintenanceWindow: ucv1.MaintenanceWindow{
				Name: "ap-days", Schedule: "0 9 * * *", DurationSeconds: 43200, TimeZone: "America/New_York",
			}},
		},
		Exclusions: []ucv1.FleetExclusion{
			{Name: "over", From: *ago(48 * time.Hour), To: *ago(24 * time.Hour)},
			{Name: "audit", From: *ago(-20 * time.Hour), To: *ago(-44 * time.Hour)},
		},
	}
}

func awaitingApproval(fm *ucv1.FleetMigration) {
	fm.Status.Waves[1].PassedAt = ago(3 * time.Hour)
	fm.Spec.Approvals = []ucv1.ApprovedWave{{Wave: "prod", GateDigest: "0123456789abcdef", Reason: "CHG0041"}}
}

// fleetOf a running migration: canaries are done, some of prod migrate, fail or wait.
func fleetOf(changes ...change) []ucv1.Cluster {
	clusters := []ucv1.Cluster{
		waiting("alpha", "canary", 3, doneBefore(51*time.Hour, 45*time.Minute)),
		waiting("beta", "canary", 5, doneBefore(52*time.Hour, 65*time.Minute)),
		waiting("gamma", "prod", 4, doneBefore(40*time.Hour, 38*time.Minute)),
		waiting("delta", "prod", 12, startedBefore(20*time.Minute)),
		waiting("epsilon", "prod", 8, failedBefore(time.Hour, ucv1.BlockedMachinesReason), of("openstack", "1.29.3")),
		waiting("zeta", "prod", 6, withFindings),
		waiting("eta", "prod", 7, paused, withFindings),
	}
	for i := range 6 {
		clusters = append(clusters, waiting(fmt.Sprint("prod-", i), "prod", int32(9+i)))
	}
	for i := range 4 {
		clusters = append(clusters, waiting(fmt.Sprint("rest-", i), "rest", 3))
	}
	clusters = append(clusters,
		waiting("theta", "typo", 3), waiting("iota", "prod", 3, func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = nil }),
		waiting("kappa", "prod", 3, func(c *ucv1.Cluster) { c.Status.Origin = ucv1.OriginExternal }),
		waiting("lambda", "prod", 3, unclaimed),
		waiting("mu", "prod", 3, func(c *ucv1.Cluster) {
			c.Labels, c.Status.Admission.UID, c.Status.Admission.FleetMigration = nil, "uid-gone", "gone"
		}),
		waiting("nu", "prod", 3, func(c *ucv1.Cluster) { c.Labels = nil }),
	)
	for i := range clusters {
		for _, change := range changes {
			change(&clusters[i])
		}
	}
	return clusters
}

func viewOf(clusters []ucv1.Cluster, migrations ...*ucv1.FleetMigration) *view {
	return newView(seen{
		clusters: clusters, migrations: migrations, host: "https://management", at: noon(), namespaces: map[string]labels.Set{},
	}, func(string) bool { return true })
}
