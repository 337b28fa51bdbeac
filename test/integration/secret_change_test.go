package integration_test

import (
	"maps"
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
)

// generations of the workloads of the user cluster: one that is rolled gets another one.
func (w *world) generations() map[string]int64 {
	w.t.Helper()
	g := NewWithT(w.t)
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.DaemonSetList{}
	g.Expect(w.user.client.List(w.t.Context(), deployments, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	g.Expect(w.user.client.List(w.t.Context(), sets, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	found := map[string]int64{}
	for _, item := range deployments.Items {
		found["Deployment "+item.Name] = item.Generation
	}
	for _, item := range sets.Items {
		found["DaemonSet "+item.Name] = item.Generation
	}
	return found
}

// rotated is the cloud configuration with another token.
func rotated() map[string][]byte {
	config := simcloudConfig()
	config["token"] = []byte(confidential)
	return config
}

func TestCloudConfigurationThatChangesInTheMiddle(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	everybody := []func(){w.playEverybody, func() { w.playCCM() }}
	w.until("the roll", at(ucv1.StepRoll), everybody...)
	before := w.generations()
	g.Expect(before).To(HaveKey("Deployment " + ccm))
	g.Expect(len(before)).To(BeNumerically(">", 1), "the CSI driver is there, too")

	// One that cannot be used is said, and nothing at all is changed by it.
	unusable := rotated()
	delete(unusable, "endpoint")
	w.secret("cloud-config", unusable)
	user := w.withoutLeaseRight()
	w.passes(5)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled")).To(
		And(HaveField("Reason", "InputInvalid"), HaveField("Message", ContainSubstring("/cloud-config: it lacks endpoint"))),
	)
	g.Expect(w.withoutLeaseRight()).To(Equal(user), "what runs goes on as it is")
	g.Expect(pretty(w.status())).NotTo(ContainSubstring(confidential))

	// One that is gone, too.
	w.secret("cloud-config", nil)
	w.passes(3)
	g.Expect(w.condition("Stalled").Message).To(ContainSubstring("/cloud-config with the cloud configuration does not exist"))
	g.Expect(w.withoutLeaseRight()).To(Equal(user))

	// One that can be used rolls the pods that read it, and no others.
	w.secret("cloud-config", rotated())
	w.until("another CCM", func(*ucv1.Cluster) bool { return w.generations()["Deployment "+ccm] > before["Deployment "+ccm] })
	after := w.generations()
	for name, generation := range before {
		if name != "Deployment "+ccm {
			g.Expect(after).To(HaveKeyWithValue(name, generation))
		}
	}
	g.Expect(after["Deployment "+ccm]).To(Equal(before["Deployment "+ccm]+1), "once")
	g.Expect(pretty(w.status())).NotTo(ContainSubstring(confidential))
	w.until("the end", at(ucv1.StepFinished), everybody...)
	g.Expect(pretty(w.status())).NotTo(ContainSubstring(confidential))
}

// withoutLeaseRight is the user cluster but for our right to KCM's Lease, which is taken back when KCM has rolled out, whatever
// is wrong.
func (w *world) withoutLeaseRight() map[string]string {
	w.t.Helper()
	found := w.userSnapshot()
	maps.DeleteFunc(found, func(object, _ string) bool { return strings.HasSuffix(object, "/"+handover.KCMLeaseRole) })
	return found
}
