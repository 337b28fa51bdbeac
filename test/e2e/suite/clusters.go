package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// Flip sets the feature and expects the webhook's annotations in the very answer, also when it is only tried.
func (h *Testbed) Flip(ctx context.Context, s *Scene, u *bed.UserCluster) {
	GinkgoHelper()
	for _, options := range [][]client.PatchOption{{client.DryRunAll}, nil} {
		cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Options.Name}}
		patch := merge(`{"spec":{"features":{"externalCloudProvider":true}}}`)
		s.Expect(h.Client.Patch(ctx, cluster, patch, options...)).To(Succeed())
		s.Expect(cluster.Annotations).To(And(
			HaveKeyWithValue(ucv1.CCMMigrationNeededAnnotation, ""),
			HaveKeyWithValue(ucv1.CSIMigrationNeededAnnotation, "")))
	}
}

// Patch changes the Cluster object.
func (h *Testbed) Patch(ctx context.Context, s *Scene, u *bed.UserCluster, format string, arguments ...any) {
	GinkgoHelper()
	cluster := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: u.Options.Name}}
	s.Expect(h.Client.Patch(ctx, cluster, merge(fmt.Sprintf(format, arguments...)))).To(Succeed())
}

// ByLock asks for protocol LeaderMigration.
func (h *Testbed) ByLock(ctx context.Context, s *Scene, u *bed.UserCluster) {
	GinkgoHelper()
	h.Patch(ctx, s, u, `{"spec":{"handover":{"protocol":"LeaderMigration"}}}`)
}

func merge(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }

// Cluster reads the Cluster object.
func Cluster(ctx context.Context, s *Scene, u *bed.UserCluster) *ucv1.Cluster {
	GinkgoHelper()
	cluster, err := u.Get(ctx)
	s.Expect(err).NotTo(HaveOccurred())
	return cluster
}

// WaitForCluster waits until the Cluster object is as wanted; lacks says what is missing.
func (h *Testbed) WaitForCluster(
	ctx context.Context, s *Scene, u *bed.UserCluster, what string, lacks func(*ucv1.Cluster) string,
) (cluster *ucv1.Cluster) {
	GinkgoHelper()
	s.Expect(h.WaitFor(ctx, "Cluster "+u.Options.Name+": "+what, Patience, func(ctx context.Context) (string, error) {
		var err error
		if cluster, err = u.Get(ctx); err != nil {
			return "", err
		}
		return lacks(cluster), nil
	})).To(Succeed())
	return cluster
}

// IsTrue is for WaitForCluster. Ready names what a migration waits for.
func IsTrue(conditionType string) func(*ucv1.Cluster) string {
	return func(cluster *ucv1.Cluster) string {
		condition := meta.FindStatusCondition(cluster.Status.Conditions, conditionType)
		switch {
		case condition == nil:
			return "there is no condition " + conditionType
		case condition.Status != metav1.ConditionTrue:
			lacks := fmt.Sprintf("%s is %s, %s: %s", conditionType, condition.Status, condition.Reason, condition.Message)
			if ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition); ready != nil {
				lacks += fmt.Sprintf(" Ready is %s, %s: %s", ready.Status, ready.Reason, ready.Message)
			}
			return lacks
		}
		return ""
	}
}

// NodesJoin waits until the user cluster has so many Nodes.
func (h *Testbed) NodesJoin(ctx context.Context, s *Scene, u *bed.UserCluster, count int) {
	GinkgoHelper()
	s.Expect(h.WaitFor(ctx, fmt.Sprintf("%d Nodes", count), Patience, func(ctx context.Context) (string, error) {
		nodes := &corev1.NodeList{}
		if err := u.Client.List(ctx, nodes); err != nil || len(nodes.Items) == count {
			return "", err
		}
		return fmt.Sprintf("%d", len(nodes.Items)), nil
	})).To(Succeed())
}

// ScaleManager waits until there is such a number of processes, and the webhook can be asked.
func (h *Testbed) ScaleManager(ctx context.Context, s *Scene, replicas int) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = ManagerNamespace, ManagerName
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	s.Expect(h.Client.Patch(ctx, deployment, patch)).To(Succeed())
	s.Eventually(func() []string { return h.ProcessesOf(s, bed.ManagementName, ManagerName) }).
		WithContext(ctx).WithTimeout(Patience).WithPolling(PollTime).Should(HaveLen(replicas))
	s.Expect(h.WaitForDeployment(ManagerNamespace, ManagerName)).To(Succeed())
}
