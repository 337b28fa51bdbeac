package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func rollback(on bool) modifier {
	return func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = on }
}

// again starts the migration again that was rolled back.
func (w *world) again() modifier {
	return func(c *ucv1.Cluster) {
		c.Spec.Handover.Rollback, c.Spec.Handover.RetryAfter = false, new(metav1.NewTime(w.clock.Now().Add(time.Second)))
	}
}

// passed is beyond the point of no return.
func passed(c *ucv1.Cluster) {
	at := metav1.Unix(1700000000, 0)
	c.Status.PointOfNoReturnAt = &at
	c.Status.Handover = &ucv1.HandoverStatus{PointOfNoReturn: &ucv1.PointOfNoReturnStatus{
		State: ucv1.PointOfNoReturnPassed, Reason: "Only the CSI driver can serve these.",
	}}
}

func TestRollbackIsRefusedBeyondThePointOfNoReturn(t *testing.T) {
	t.Parallel()
	const refused = "the point of no return was passed, status.pointOfNoReturnAt says when. Only the CSI driver can serve these."
	const nothing = "spec.handover.rollback is refused: the cluster was created with the external cloud provider"
	migrating := []modifier{feature(true), origin(ucv1.OriginMigrating), started}
	checkRules(t, map[string]ruleCase{
		"it is accepted without a status":              {nil, rollback(true), ""},
		"it is accepted before the point of no return": {migrating, rollback(true), ""},
		"it is refused beyond it, with what passed it": {append(migrating, passed), rollback(true), refused},
		"what was asked for before stays": {
			append(migrating, rollback(true), passed),
			func(c *ucv1.Cluster) { c.Spec.Paused = true },
			"",
		},
		"it can be taken back beyond it": {append(migrating, rollback(true), passed), rollback(false), ""},
		"a cluster that was created so has nothing to go back to": {
			[]modifier{feature(true), origin(ucv1.OriginExternal)}, rollback(true), nothing,
		},
	})
}

func TestNoRuleRefusesAStatusBeyondThePointOfNoReturn(t *testing.T) {
	t.Parallel()
	c := newCluster(newNamespace(t), feature(true), rollback(true), origin(ucv1.OriginExternal), passed)
	createCluster(t, c)
	passed(c)
	c.Status.Step = ucv1.StepRollbackLoops
	NewWithT(t).Expect(suite.client.Status().Update(t.Context(), c)).To(Succeed())
}
