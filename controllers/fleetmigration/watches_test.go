package fleetmigration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// A pass is made for what the decision reads of a Cluster, and for nothing else.
func TestWhichChangesOfAClusterMakeAPass(t *testing.T) {
	full := func() *ucv1.Cluster {
		c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"tier": "canary"}}}
		c.Spec.Maintenance.Windows = []ucv1.MaintenanceWindow{{
			Name: "nights", Schedule: "0 22 * * *", DurationSeconds: 3600, TimeZone: "Europe/Berlin",
		}}
		c.Status.Nodes = &ucv1.NodeCount{Total: 3}
		c.Status.Admission = &ucv1.AdmissionStatus{FleetMigration: "fm", State: ucv1.AdmissionQueued}
		c.Status.StartedAt = &metav1.Time{Time: time.Unix(1, 0)}
		return c
	}
	for name, test := range map[string]struct {
		change func(*ucv1.Cluster)
		wakes  bool
	}{
		"its labels":           {func(c *ucv1.Cluster) { c.Labels["tier"] = "prod" }, true},
		"its feature":          {func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = new(true) }, true},
		"its Nodes":            {func(c *ucv1.Cluster) { c.Status.Nodes.Total++ }, true},
		"its admission":        {func(c *ucv1.Cluster) { c.Status.Admission.State = ucv1.AdmissionAdmitted }, true},
		"that it was finished": {func(c *ucv1.Cluster) { c.Status.CompletedAt = &metav1.Time{Time: time.Unix(2, 0)} }, true},
		"its windows":          {func(c *ucv1.Cluster) { c.Spec.Maintenance.Windows[0].DurationSeconds++ }, true},
		"that it is deleted":   {func(c *ucv1.Cluster) { c.DeletionTimestamp = &metav1.Time{} }, true},
		"nothing":              {func(*ucv1.Cluster) {}, false},
		"its step":             {func(c *ucv1.Cluster) { c.Status.Step = ucv1.StepHandover }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{CanMigrate: func(string) bool { return true }}
			before, after := full(), full()
			test.change(after)
			NewWithT(t).Expect(r.changes().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(test.wakes))
		})
	}
}
