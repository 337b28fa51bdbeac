package preflight

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func fieldStories() map[string]story {
	return map[string]story{
		"a rollback is asked for with the feature off": {
			id:       FieldWithoutEffect,
			wrong:    func(o *Facts) { o.Cluster.Spec.Handover.Rollback = true },
			severity: observation.Warning,
			says:     "nothing to roll back. Take it out",
		},
	}
}

func TestFieldsWithoutEffectAreFound(t *testing.T) {
	started := func(c *ucv1.Cluster) {
		c.Status.StartedAt, c.Status.Inherited = new(metav1.Unix(1700000000, 0)), &ucv1.InheritedConfiguration{ClusterName: "prod"}
		c.Spec.Features.ExternalCloudProvider = new(true)
	}
	for name, tc := range map[string]struct {
		when func(*ucv1.Cluster)
		says []string
	}{
		"nothing is asked for in vain":       {func(*ucv1.Cluster) {}, nil},
		"a rollback with the feature off":    {func(c *ucv1.Cluster) { c.Spec.Handover.Rollback = true }, []string{"nothing to roll back"}},
		"a plan and a name before the start": {func(c *ucv1.Cluster) { c.Spec.Mode, c.Spec.Cloud.ClusterName = ucv1.PlanOnlyMode, "foo" }, nil},
		"a rollback of a migration":          {func(c *ucv1.Cluster) { started(c); c.Spec.Handover.Rollback = true }, nil},
		"a plan after the start":             {func(c *ucv1.Cluster) { started(c); c.Spec.Mode = ucv1.PlanOnlyMode }, []string{"spec.mode PlanOnly has no effect"}},
		"the plan that it started with":      {func(c *ucv1.Cluster) { started(c); c.Spec.Mode, c.Spec.Approval.PlanDigest = ucv1.PlanOnlyMode, "d" }, nil},
		"another name after the start":       {func(c *ucv1.Cluster) { started(c); c.Spec.Cloud.ClusterName = "foo" }, []string{"spec.cloud.clusterName foo has no effect"}},
		"the name that is used":              {func(c *ucv1.Cluster) { started(c); c.Spec.Cloud.ClusterName = "prod" }, nil},
		"both of them are said, one by itself": {func(c *ucv1.Cluster) {
			started(c)
			c.Spec.Mode, c.Spec.Cloud.ClusterName = ucv1.PlanOnlyMode, "foo"
		}, []string{"spec.mode", "spec.cloud.clusterName"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, cluster := NewWithT(t), &ucv1.Cluster{}
			tc.when(cluster)
			found := JudgeFields(cluster)
			g.Expect(found).To(HaveLen(len(tc.says)))
			for i, says := range tc.says {
				g.Expect(found[i]).To(And(HaveField("ID", FieldWithoutEffect), HaveField("Severity", observation.Warning),
					HaveField("Message", ContainSubstring(says)), HaveField("Action", Not(BeEmpty()))))
				g.Expect(found[i].Blocks()).To(BeFalse())
			}
			if len(found) > 0 {
				g.Expect(Judge(Facts{Cluster: cluster}, time.Time{})).To(ContainElements(found), "they are among all others")
			}
		})
	}
}
