package integration_test

import (
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ccm is the name of the cloud-controller-manager's Deployment, ServiceAccount and Lease.
const ccm = "cloud-controller-manager"

// ccmClient is a client with the CCM's identity: the real authorizer decides what the fence lets through.
func (w *world) ccmClient(serviceAccount string) client.Client {
	w.t.Helper()
	config := rest.CopyConfig(w.user.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:kube-system:" + serviceAccount,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	}
	c, err := client.New(config, client.Options{Scheme: suite.scheme, Mapper: w.user.client.RESTMapper()})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	return c
}

// renew writes a Lease of leader election as its holder does.
func (w *world) renew(c client.Client, name, holder string) error {
	now := metav1.NewMicroTime(w.clock.Now())
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}}
	err := c.Get(w.t.Context(), client.ObjectKeyFromObject(lease), lease)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != holder {
		lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), AcquireTime: &now}
	}
	lease.Spec.RenewTime = &now
	if apierrors.IsNotFound(err) {
		return c.Create(w.t.Context(), lease)
	}
	return c.Update(w.t.Context(), lease)
}

// playCCM renews the CCM's Lease once it runs and may; until then it stays a candidate. It says whether it leads.
func (w *world) playCCM() bool {
	w.t.Helper()
	if !w.ccmDeployed() && w.kindsBeside()["Deployment"] == 0 {
		return false
	}
	return w.lead(w.asCCM, ccm)
}

func (w *world) lead(as client.Client, lease string) bool {
	w.t.Helper()
	err := w.renew(as, lease, lease+"-0_1")
	if err != nil && !apierrors.IsForbidden(err) {
		w.t.Fatal(err)
	}
	return err == nil
}

// playKCM has this pod hold KCM's Lease.
func (w *world) playKCM(pod string) {
	w.t.Helper()
	NewWithT(w.t).Expect(w.renew(w.user.client, kcm, pod+"_1")).To(Succeed())
}

// playAddons has all workloads of the user cluster run.
func (w *world) playAddons() {
	w.t.Helper()
	g := NewWithT(w.t)
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.DaemonSetList{}
	g.Expect(w.user.client.List(w.t.Context(), deployments, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	for _, deployment := range deployments.Items {
		if deployment.Name == ccm+"-probe" && !w.probeDies {
			w.lead(w.asProbe, deployment.Name)
		}
		w.makeAvailable(w.user.client, &deployment)
	}
	g.Expect(w.user.client.List(w.t.Context(), sets, client.InNamespace(metav1.NamespaceSystem))).To(Succeed())
	for _, set := range sets.Items {
		if set.Status.ObservedGeneration == set.Generation {
			continue
		}
		set.Status = appsv1.DaemonSetStatus{
			ObservedGeneration: set.Generation, DesiredNumberScheduled: 1, CurrentNumberScheduled: 1, UpdatedNumberScheduled: 1,
			NumberReady: 1, NumberAvailable: 1,
		}
		g.Expect(w.user.client.Status().Update(w.t.Context(), &set)).To(Succeed())
	}
}

// makeAvailable writes the status of a Deployment that is rolled out.
func (w *world) makeAvailable(c client.Client, deployment *appsv1.Deployment) {
	w.t.Helper()
	replicas := *deployment.Spec.Replicas
	if deployment.Status.ObservedGeneration == deployment.Generation && deployment.Status.AvailableReplicas == replicas {
		return
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           replicas,
		UpdatedReplicas:    replicas,
		ReadyReplicas:      replicas,
		AvailableReplicas:  replicas,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	NewWithT(w.t).Expect(c.Status().Update(w.t.Context(), deployment)).To(Succeed())
}

// ccmDeployed says whether there is a CCM in the user cluster.
func (w *world) ccmDeployed() bool {
	w.t.Helper()
	err := w.user.client.Get(w.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ccm}, &appsv1.Deployment{})
	NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}
