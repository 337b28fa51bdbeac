//go:build largecluster

package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
)

// Two hundred clusters that could not connect once sent 2,888 requests a minute to the management cluster. In the queue of a
// FleetMigration they send none but those of looks, by the audit log, with a manager as it is installed: one an hour each at most,
// from the first hour on, in which each of the 50 that are next is looked at soon and the others within six hours. How rarely they
// come afterwards is TestAQueuedClusterThatCannotConnectAsksLittle.
func TestALargeQueueThatCannotConnectAsksLittle(t *testing.T) {
	const clusters, next, window = 200, 50, 5 * time.Minute
	g := NewWithT(t)
	kubeconfig := kubeconfigTo(t, "https://"+closedPort(t))
	worlds := make([]*world, 0, clusters)
	for range clusters {
		w := &world{t: t, namespace: newNamespace(t), kubeconfig: kubeconfig, clock: clocktesting.NewFakeClock(time.Now())}
		w.managementNode()
		w.deploy(kcm, 1, append([]string{kcm}, loopsOn()...)...)
		w.create(func(c *ucv1.Cluster) { c.Labels = map[string]string{"world": "queue"} })
		worlds = append(worlds, w)
	}
	fm := fleetOf("queue")
	fm.Spec.Mode, fm.Spec.ClusterSelector.MatchLabels = ucv1.FleetHold, map[string]string{"world": "queue"}
	g.Expect(suite.client.Create(t.Context(), fm)).To(Succeed())
	mayImpersonate(t)
	startManagerAs(t, &clientcmdapi.AuthInfo{Token: controllerIdentity, Impersonate: managerIdentity})

	for _, w := range worlds {
		g.Eventually(func() ucv1.Origin { return w.status().Origin }, 2*time.Minute, interval).Should(Equal(ucv1.OriginInTree))
		w.enable()
	}
	for _, w := range worlds {
		g.Eventually(func() string {
			return ptr.Deref(meta.FindStatusCondition(w.status().Conditions, ucv1.AdmittedCondition), metav1.Condition{}).Reason
		}, 2*time.Minute, interval).Should(Equal(ucv1.QueuedReason))
	}
	// What comes with a start is over when five seconds pass without a request, before the first looks at the next ones.
	mark, last := suite.management.markAudit(t), time.Now()
	g.Eventually(func() time.Duration {
		if asked(mark.since(t)).All() > 0 {
			mark, last = suite.management.markAudit(t), time.Now()
		}
		return time.Since(last)
	}, time.Minute, time.Second).Should(BeNumerically(">=", 5*time.Second))
	before := looksOf(worlds)
	<-time.After(window)
	requests, after := asked(mark.since(t)), looksOf(worlds)
	t.Logf("%d Clusters in a queue, none of which can be connected to, in %s: %d looks, %d requests: %v; %d looks were made before, %d "+
		"are due within the hour", clusters, window, after.tried-before.tried, requests.All(), requests, before.tried, after.due)
	g.Expect(after.tried).To(BeNumerically(">=", next))
	// The kubeconfig and the status. Of the others, a sixth is looked at in each hour (TestTheFirstLooksAreSpread).
	const each, others = 2, (clusters - next) / 6
	g.Expect(requests.All() + each*(before.tried+others)).To(BeNumerically("<=", clusters))
}

// looks are how many Clusters were looked at, and how many are due for one within an hour.
type looks struct{ tried, due int }

func looksOf(worlds []*world) (seen looks) {
	for _, w := range worlds {
		ahead := w.status().LookAhead
		if ahead == nil {
			continue
		}
		if ahead.TriedAt != nil {
			seen.tried++
		}
		if ahead.NextAt != nil && time.Until(ahead.NextAt.Time) < time.Hour {
			seen.due++
		}
	}
	return seen
}

// asked are the requests of the manager, but watches: each of those is for all Clusters, and is renewed every few minutes.
func asked(events []audit.Event) audit.Requests {
	requests := audit.RequestsOf(events, "ccm-migration-controller")
	for _, verbs := range requests {
		delete(verbs, "watch")
	}
	return requests
}

func kubeconfigTo(t *testing.T, server string) []byte {
	t.Helper()
	file := clientcmdapi.NewConfig()
	file.Clusters["user"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: suite.management.plane.APIServer.CA}
	file.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: controllerIdentity}
	file.Contexts["user"], file.CurrentContext = &clientcmdapi.Context{Cluster: "user", AuthInfo: "user"}, "user"
	data, err := clientcmd.Write(*file)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return data
}

// mayImpersonate lets the identity whose requests are logged act as the manager.
func mayImpersonate(t *testing.T) {
	t.Helper()
	g, name := NewWithT(t), metav1.ObjectMeta{Name: "impersonates-the-manager"}
	g.Expect(suite.client.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"impersonate"},
	}}})).To(Succeed())
	g.Expect(suite.client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: controllerIdentity}},
	})).To(Succeed())
}
