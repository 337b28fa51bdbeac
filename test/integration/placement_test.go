package integration_test

import (
	"strings"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

func besideControlPlane(c *ucv1.Cluster) {
	c.Spec.Cloud.ControllerManager.Placement = ucv1.BesideControlPlane
}

// besideWorld is a cluster that begins to migrate to a CCM in the management cluster.
func besideWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.create(besideControlPlane)
	w.pass()
	w.edit(feature(true))
	return w
}

// playBeside plays the pods of the CCM and of its probe in the management cluster: one of each, as long as its Deployment is
// there.
func (w *world) playBeside() {
	w.t.Helper()
	g := NewWithT(w.t)
	labelled := client.HasLabels{manifest.ClusterLabel}
	deployments, pods := &appsv1.DeploymentList{}, &corev1.PodList{}
	g.Expect(suite.client.List(w.t.Context(), deployments, client.InNamespace(w.namespace), labelled)).To(Succeed())
	g.Expect(suite.client.List(w.t.Context(), pods, client.InNamespace(w.namespace), labelled)).To(Succeed())
	wanted := map[string]bool{}
	for _, deployment := range deployments.Items {
		wanted[deployment.Name] = true
		w.makeAvailable(suite.client, &deployment)
		pod := &corev1.Pod{Spec: *deployment.Spec.Template.Spec.DeepCopy()}
		pod.Namespace, pod.Name, pod.Labels = w.namespace, deployment.Name, deployment.Spec.Template.Labels
		g.Expect(client.IgnoreAlreadyExists(suite.client.Create(w.t.Context(), pod))).To(Succeed())
		if name := strings.TrimPrefix(deployment.Name, alpha+"-"); name == ccm {
			w.lead(w.asCCM, name)
		} else {
			w.lead(w.asProbe, name)
		}
	}
	for _, pod := range pods.Items {
		if !wanted[pod.Name] {
			g.Expect(client.IgnoreNotFound(suite.client.Delete(w.t.Context(), &pod, client.GracePeriodSeconds(0)))).To(Succeed())
		}
	}
}

// kindsBeside counts what is in the management cluster.
func (w *world) kindsBeside() map[string]int {
	w.t.Helper()
	found := map[string]int{}
	for kind, list := range map[string]client.ObjectList{
		"Deployment": &appsv1.DeploymentList{}, "Secret": &corev1.SecretList{},
		"PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{},
	} {
		NewWithT(w.t).Expect(
			suite.client.List(w.t.Context(), list, client.InNamespace(w.namespace), client.HasLabels{manifest.ClusterLabel}),
		).To(Succeed())
		switch items := list.(type) {
		case *appsv1.DeploymentList:
			found[kind] = len(items.Items)
		case *corev1.SecretList:
			found[kind] = len(items.Items)
		case *policyv1.PodDisruptionBudgetList:
			found[kind] = len(items.Items)
		}
	}
	return found
}

func TestCCMBesideTheControlPlane(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := besideWorld(t)
	w.until("the end", finished, w.playEverybody, w.playBeside)
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.kindsBeside()).To(Equal(map[string]int{"Deployment": 1, "Secret": 2, "PodDisruptionBudget": 1}), "the probe is gone")
	g.Expect(w.ccmDeployed()).To(BeFalse())
	secrets := &corev1.SecretList{}
	g.Expect(
		w.user.client.List(t.Context(), secrets, client.InNamespace("kube-system"), client.HasLabels{"app.kubernetes.io/managed-by"}),
	).To(Succeed())
	g.Expect(secrets.Items).To(BeEmpty(), "the credentials of the cloud are not in the user cluster")

	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: w.namespace, Name: alpha + "-" + ccm + "-kubeconfig"}
	g.Expect(suite.client.Get(t.Context(), key, secret)).To(Succeed())
	file, err := clientcmd.Load(secret.Data["kubeconfig"])
	g.Expect(err).NotTo(HaveOccurred())
	for _, identity := range file.AuthInfos {
		identity.TokenFile, identity.Token = "", string(secret.Data["token"])
	}
	config, err := clientcmd.NewDefaultClientConfig(*file, &clientcmd.ConfigOverrides{}).ClientConfig()
	g.Expect(err).NotTo(HaveOccurred())
	user, err := client.New(config, client.Options{Scheme: suite.scheme})
	g.Expect(err).NotTo(HaveOccurred())
	review := &authenticationv1.SelfSubjectReview{}
	g.Expect(user.Create(t.Context(), review)).To(Succeed())
	g.Expect(review.Status.UserInfo.Username).To(Equal("system:serviceaccount:kube-system:" + ccm))
	w.expectIdle()

	deployment := w.deployment(alpha + "-" + ccm)
	deployment.Spec.Template.Spec.Containers[0].Args = []string{"--leader-elect=false"}
	g.Expect(suite.client.Update(t.Context(), deployment)).To(Succeed())
	w.until("the repair", func(*ucv1.Cluster) bool {
		return len(w.deployment(alpha + "-" + ccm).Spec.Template.Spec.Containers[0].Args) > 1
	}, w.playEverybody, w.playBeside)
}

func TestCCMBesideTheControlPlaneIsRolledBack(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := besideWorld(t)
	w.until("the roll", at(ucv1.StepRoll), w.playEverybody, w.playBeside)
	w.edit(rollback(true))
	w.edit(func(c *ucv1.Cluster) { c.Spec.Handover.RollbackAddons = true })
	w.until("the CCM's pod to be all that is left", func(c *ucv1.Cluster) bool {
		return c.Status.Step == ucv1.StepRollbackFence && w.kindsBeside()["Deployment"] == 0
	}, w.playEverybody, func() {
		if w.status().Step != ucv1.StepRollbackFence {
			w.playBeside()
		}
	})
	for range 10 {
		w.playEverybody()
		w.pass()
		g.Expect(w.loops()).To(ContainElement(ContainSubstring("-service-lb-controller")), "a pod of the CCM is left")
	}
	w.until("the end of the rollback", at(ucv1.StepRolledBack), w.playEverybody, w.playBeside)
	g.Expect(w.kindsBeside()).To(Equal(map[string]int{"Deployment": 0, "Secret": 0, "PodDisruptionBudget": 0}))
}

func TestPlacementRules(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	static := newCluster(
		w.namespace,
		besideControlPlane,
		func(c *ucv1.Cluster) { c.Spec.ControlPlane.Type = ucv1.ExternalControlPlane },
	)
	g.Expect(suite.client.Create(t.Context(), static)).To(MatchError(ContainSubstring("there is no control plane in the " +
		"management cluster")))

	w.create()
	w.edit(besideControlPlane)
	w.edit(feature(true))
	c, _ := w.cluster()
	c.Spec.Cloud.ControllerManager.Placement = ""
	g.Expect(suite.client.Update(t.Context(), c)).To(MatchError(ContainSubstring("placement is immutable once")))
	c, _ = w.cluster()
	c.Labels = map[string]string{"other": "change"}
	g.Expect(suite.client.Update(t.Context(), c)).To(Succeed())
}
