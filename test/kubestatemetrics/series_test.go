package kubestatemetrics

import (
	"strings"
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func objectOf(t *testing.T, of any) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return &unstructured.Unstructured{Object: content}
}

// reported is a Cluster with the status that a pass writes.
func reported(c *ucv1.Cluster, decision migration.Decision) *ucv1.Cluster {
	pass := &status.Pass{Cluster: c, Now: passes.Start(), Decision: decision}
	pass.Observed = observation.Observation{
		Turn: observation.Absent[observation.Turn](), Cluster: c, Keeper: observation.Absent[observation.Ref](),
		Connection: observation.Connection{Reachable: true, Reason: ucv1.ReachableReason, Message: "It answers."},
	}
	pass.Shown = migration.ShownOf(pass.Observed, decision.Rows, pass.Now)
	c = c.DeepCopy()
	c.Status = status.Compute(pass)
	return c
}

// created is when the objects of the table were; the API server says so of each.
func created(c *ucv1.Cluster) { c.CreationTimestamp = *passes.At(passes.Start().Add(-time.Hour)) }

// counted has what only a look into a user cluster fills in.
func counted(c *ucv1.Cluster) {
	c.Status.StartedAt, c.Status.PointOfNoReturnAt = passes.At(passes.Start()), passes.At(passes.Start().Add(time.Minute))
	c.Status.CompletedAt = passes.At(passes.Start().Add(time.Hour))
	c.Status.Machines = &ucv1.ProgressCount{Total: 5, UpToDate: 3, Blocked: 1, Summary: "3/5"}
	c.Status.Nodes = &ucv1.NodeCount{Total: 6, Initialized: 4, Proven: &ucv1.ProvenCount{Total: 2, Taint: 1}}
	c.Status.Preflight = &ucv1.PreflightStatus{Blocking: 7}
	c.Status.Admission = &ucv1.AdmissionStatus{
		FleetMigration: "north", UID: "1", Wave: "canary", State: ucv1.AdmissionAdmitted, AdmittedAt: passes.At(passes.Start()),
		Directive: ucv1.DirectiveProceed,
	}
	c.Status.SLO = &ucv1.SLOStatus{Verdict: "Violated", Indicators: []ucv1.SLOIndicator{
		{Name: "TaintRemoval", Verdict: "Violated", Within: 10, Missed: 3}, {Name: "NodeSync", Verdict: "Met", Within: 20},
	}}
}

func TestSeriesOfAClusterAtTheStartOfItsMigration(t *testing.T) {
	c := reported(passes.ClusterOf(ucv1.OriginMigrating, created), passes.Decided(ucv1.OriginMigrating, ucv1.StepPreflight,
		passes.Failing("PreflightFindings", "Something blocks.")))
	const of = `{name="alpha",namespace="user"`
	lines := seriesOf(t, resources(t)["Cluster"], objectOf(t, c))
	NewWithT(t).Expect(lines).To(ContainElements(
		`ccm_migration_cluster_info{external_cloud_provider="true",name="alpha",namespace="user",origin="Migrating",`+
			`provider="simcloud",version="1.30.14"} 1`,
		`ccm_migration_cluster_step_info`+of+`,step="Preflight"} 1`,
		`ccm_migration_cluster_created_timestamp_seconds`+of+`} 1.6999964e+09`,
	))
	conditions := 0
	for _, condition := range c.Status.Conditions {
		conditions++
		NewWithT(t).Expect(lines).To(ContainElement(`ccm_migration_cluster_condition_timestamp_seconds` + of + `,reason="` +
			condition.Reason + `",status="` + string(condition.Status) + `",type="` + condition.Type + `"} 1.7e+09`))
	}
	NewWithT(t).Expect(conditions).To(BeNumerically(">", 10))
	NewWithT(t).Expect(lines).To(HaveLen(3+conditions), "what it does not have yet has no series")
}

func TestSeriesOfWhatIsCounted(t *testing.T) {
	c := passes.ClusterOf(ucv1.OriginMigrating, created, counted)
	const prefix, of = "ccm_migration_cluster_", `{name="alpha",namespace="user"`
	want := []string{
		`info{external_cloud_provider="true",name="alpha",namespace="user",origin="Migrating",provider="simcloud",version="1.30.14"} 1`,
		`admission_info{directive="Proceed",fleet_migration="north",name="alpha",namespace="user",state="Admitted",wave="canary"} 1`,
		`created_timestamp_seconds` + of + `} 1.6999964e+09`,
		`admitted_timestamp_seconds` + of + `} 1.7e+09`,
		`started_timestamp_seconds` + of + `} 1.7e+09`,
		`point_of_no_return_timestamp_seconds` + of + `} 1.70000006e+09`,
		`completed_timestamp_seconds` + of + `} 1.7000036e+09`,
		`machines` + of + `} 5`,
		`machines_up_to_date` + of + `} 3`,
		`machines_blocked` + of + `} 1`,
		`nodes` + of + `} 6`,
		`nodes_initialized` + of + `} 4`,
		`nodes_proven` + of + `} 2`,
		`preflight_blocking_findings` + of + `} 7`,
		`slo_info` + of + `,verdict="Violated"} 1`,
		`slo_missed_samples{indicator="TaintRemoval",name="alpha",namespace="user"} 3`,
		`slo_missed_samples{indicator="NodeSync",name="alpha",namespace="user"} 0`,
	}
	for i := range want {
		want[i] = prefix + want[i]
	}
	NewWithT(t).Expect(seriesOf(t, resources(t)["Cluster"], objectOf(t, c))).To(ConsistOf(want))
}

func TestSeriesOfAFleetMigration(t *testing.T) {
	g, fm := NewWithT(t), &ucv1.FleetMigration{}
	g.Expect(yaml.UnmarshalStrict([]byte(file(t, "config", "samples", "fleet_migration.yaml")), fm)).To(Succeed())
	fm.CreationTimestamp = *passes.At(passes.Start())
	fm.Status.Wave, fm.Status.Halt = "rest", &ucv1.FleetHalt{At: *passes.At(passes.Start()), Reason: ucv1.MaxFailuresExceededReason}
	fm.Status.Conditions = []metav1.Condition{{
		Type: ucv1.HaltedCondition, Status: metav1.ConditionTrue, Reason: ucv1.MaxFailuresExceededReason,
		LastTransitionTime: *passes.At(passes.Start()),
	}}
	want := []string{
		`info{fleet_migration="openstack",mode="PlanOnly",wave="rest"} 1`,
		`condition_timestamp_seconds{fleet_migration="openstack",reason="MaxFailuresExceeded",status="True",type="Halted"} 1.7e+09`,
		`created_timestamp_seconds{fleet_migration="openstack"} 1.7e+09`,
		`halted_timestamp_seconds{fleet_migration="openstack"} 1.7e+09`,
	}
	for i := range want {
		want[i] = "ccm_migration_fleet_migration_" + want[i]
	}
	g.Expect(seriesOf(t, resources(t)["FleetMigration"], objectOf(t, fm))).To(ConsistOf(want))
}

// An object that no manager has looked at has what is in its spec, and nothing that could be taken for a status.
func TestSeriesOfANewCluster(t *testing.T) {
	c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "user", Name: "new"}}
	c.Spec.Version, c.Spec.Cloud.ProviderName = "1.30.14", "simcloud"
	for _, line := range seriesOf(t, resources(t)["Cluster"], objectOf(t, c)) {
		NewWithT(t).Expect(strings.HasPrefix(line, "ccm_migration_cluster_info{")).To(BeTrue(), line)
	}
}
