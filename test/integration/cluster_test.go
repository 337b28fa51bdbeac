package integration_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const (
	deadline = 30 * time.Second
	interval = 50 * time.Millisecond
)

// modifier changes a Cluster that a test builds.
type modifier func(*ucv1.Cluster)

// newNamespace makes a namespace for one test. envtest runs no namespace controller, so none is ever deleted.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "user-"}}
	NewWithT(t).Expect(suite.client.Create(t.Context(), namespace)).To(Succeed())
	return namespace.Name
}

func newCluster(namespace string, modifiers ...modifier) *ucv1.Cluster {
	c := &ucv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "c-"}}
	c.Spec.Version = "1.25.16"
	c.Spec.Cloud = ucv1.CloudSpec{ProviderName: "openstack", ConfigSecretRef: ucv1.SecretReference{Name: "cloud-config"}}
	for _, modify := range modifiers {
		modify(c)
	}
	return c
}

// createCluster creates the object and then writes its status, as two requests, the way the controller would.
func createCluster(t *testing.T, c *ucv1.Cluster) *ucv1.Cluster {
	t.Helper()
	g := NewWithT(t)
	status := c.Status.DeepCopy()
	g.Expect(suite.client.Create(t.Context(), c)).To(Succeed())
	c.Status = *status
	g.Expect(suite.client.Status().Update(t.Context(), c)).To(Succeed())
	return c
}

func fetch(t *testing.T, c *ucv1.Cluster) *ucv1.Cluster {
	t.Helper()
	got := &ucv1.Cluster{}
	NewWithT(t).Expect(suite.client.Get(t.Context(), client.ObjectKeyFromObject(c), got)).To(Succeed())
	return got
}

func feature(on bool) modifier {
	return func(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = &on }
}

func featureRemoved(c *ucv1.Cluster) { c.Spec.Features = ucv1.FeaturesSpec{} }

// accepting adds a finding of preflight that a person takes upon themselves.
func accepting(id string) modifier {
	return func(c *ucv1.Cluster) {
		c.Spec.Preflight.Accept = append(
			c.Spec.Preflight.Accept,
			ucv1.AcceptedFinding{ID: id, Reason: "this test is about something else"},
		)
	}
}

func ofProvider(name string) modifier {
	return func(c *ucv1.Cluster) { c.Spec.Cloud.ProviderName = name }
}

func clusterName(name string) modifier {
	return func(c *ucv1.Cluster) { c.Spec.Cloud.ClusterName = name }
}

func version(v string) modifier {
	return func(c *ucv1.Cluster) { c.Spec.Version = v }
}

func managerDeployment(name string) modifier {
	return func(c *ucv1.Cluster) { c.Spec.ControlPlane.KubeControllerManager.Name = name }
}

func controlPlaneRemoved(c *ucv1.Cluster) { c.Spec.ControlPlane = ucv1.ControlPlaneSpec{} }

func origin(o ucv1.Origin) modifier {
	return func(c *ucv1.Cluster) { c.Status.Origin = o }
}

func started(c *ucv1.Cluster) {
	at := metav1.Unix(1700000000, 0)
	c.Status.StartedAt = &at
}

func inTreeRemoved(status metav1.ConditionStatus) modifier {
	return condition("InTreeConfigurationRemoved", status)
}

func condition(kind string, status metav1.ConditionStatus) modifier {
	return func(c *ucv1.Cluster) {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: "Test", LastTransitionTime: metav1.Unix(1700000000, 0),
		})
	}
}
