package fleetmigration

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func TestOnlyWhatTheDecisionReadsAsksForAPass(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*ucv1.Cluster)
		asks   bool
	}{
		"nothing":                  {func(*ucv1.Cluster) {}, false},
		"what it does not read":    {func(c *ucv1.Cluster) { c.Status.Step = ucv1.StepRoll }, false},
		"a label":                  {func(c *ucv1.Cluster) { c.Labels = map[string]string{"tier": "canary"} }, true},
		"its number of Nodes":      {func(c *ucv1.Cluster) { c.Status.Nodes = &ucv1.NodeCount{Total: 4} }, true},
		"its start":                {func(c *ucv1.Cluster) { c.Status.StartedAt = &metav1.Time{} }, false},
		"the end of its migration": {func(c *ucv1.Cluster) { c.Status.CompletedAt = new(metav1.Now()) }, true},
		"what is wrong with it": {func(c *ucv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{{Type: ucv1.StalledCondition, Status: metav1.ConditionTrue, Reason: "BreakerTripped"}}
		}, true},
		"windows of its owner": {func(c *ucv1.Cluster) {
			c.Spec.Maintenance.Windows = []ucv1.MaintenanceWindow{
				{Name: "w", Schedule: "0 22 * * *", TimeZone: "Etc/UTC", DurationSeconds: 900},
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := &ucv1.Cluster{Status: ucv1.ClusterStatus{Nodes: &ucv1.NodeCount{Total: 3}}}
			after := before.DeepCopy()
			test.change(after)
			r := &Reconciler{CanMigrate: func(string) bool { return true }}
			NewWithT(t).Expect(r.changes().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(test.asks))
		})
	}
}
