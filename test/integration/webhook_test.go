package integration_test

import (
	"context"
	"net"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	controller "github.com/ccm-migration/ccm-migration-controller/controllers/cluster"
	"github.com/ccm-migration/ccm-migration-controller/webhooks"
)

func both() map[string]string {
	return map[string]string{
		"ccm-migration.k8c.io/migration-needed": "",
		"csi-migration.k8c.io/migration-needed": "",
	}
}

func TestASecondClusterOfAControlPlane(t *testing.T) {
	g := NewWithT(t)
	namespace := newNamespace(t)
	serveWebhooks(t, func(*ucv1.Cluster, *ucv1.Cluster) string { return "" }, controller.Sharers)
	first, second := newCluster(namespace), newCluster(namespace)
	first.Name, second.Name = "first", "second"
	g.Expect(suite.client.Create(t.Context(), first)).To(Succeed())
	g.Expect(suite.client.Create(t.Context(), second.DeepCopy())).To(
		MatchError(ContainSubstring("Cluster " + namespace + "/first has this control plane already")))
	second.Spec.ControlPlane.KubeControllerManager.Name = "another"
	g.Expect(suite.client.Create(t.Context(), second)).To(Succeed())
	second.Spec.ControlPlane.KubeControllerManager.Name = ""
	g.Expect(suite.client.Update(t.Context(), second)).To(MatchError(ContainSubstring("delete that Cluster first")))
}

func TestWebhook(t *testing.T) {
	namespace := newNamespace(t)
	serveWebhook(t, func(*ucv1.Cluster, *ucv1.Cluster) string { return "" })
	for name, tc := range map[string]struct {
		given   []modifier
		change  modifier
		options []client.UpdateOption
		want    map[string]string
	}{
		"switching the feature on from unset annotates":     {nil, feature(true), nil, both()},
		"switching the feature on from false annotates":     {[]modifier{feature(false)}, feature(true), nil, both()},
		"a dry-run gets the same answer":                    {nil, feature(true), []client.UpdateOption{client.DryRunAll}, both()},
		"a provider with nothing to migrate from gets none": {[]modifier{ofProvider("hetzner")}, feature(true), nil, nil},
		"an update that leaves the feature off gets none":   {nil, func(c *ucv1.Cluster) { c.Spec.Paused = true }, nil, nil},
		"an update of a cluster that has the feature gets none": {
			[]modifier{feature(true)}, func(c *ucv1.Cluster) { c.Spec.Paused = true }, nil, nil,
		},
		"an object that is being deleted gets none": {
			[]modifier{func(c *ucv1.Cluster) { c.Finalizers = []string{ucv1.ClusterFinalizer} }, deletedSoon}, feature(true), nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := createCluster(t, newCluster(namespace, tc.given...))
			g.Expect(c.Annotations).NotTo(HaveKey(ucv1.CCMMigrationNeededAnnotation), "creating never annotates")
			if _, soon := c.Labels["deleted"]; soon {
				g.Expect(suite.client.Delete(t.Context(), c)).To(Succeed())
				c = fetch(t, c)
			}
			tc.change(c)
			want := c.DeepCopy()
			g.Expect(suite.client.Update(t.Context(), c, tc.options...)).To(Succeed())
			if tc.want == nil {
				g.Expect(c.Annotations).To(BeEmpty())
			} else {
				g.Expect(c.Annotations).To(Equal(tc.want))
			}
			g.Expect(c.Spec).To(Equal(want.Spec), "spec stays as it was sent")
		})
	}
}

func TestFlipIsAcceptedWhileTheWebhookIsDown(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T){
		"no one listens":                    func(*testing.T) {},
		"someone listens and never answers": listenSilently,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := createCluster(t, newCluster(newNamespace(t)))
			prepare(t)
			feature(true)(c)
			g.Expect(suite.client.Update(t.Context(), c)).To(Succeed())
			g.Expect(c.ExternalCloudProvider()).To(BeTrue())
			g.Expect(c.Annotations).To(BeEmpty())
		})
	}
}

// listenSilently takes the webhook's place: connections end in the backlog, and nothing is ever read from them.
func listenSilently(t *testing.T) {
	t.Helper()
	options := suite.environment.WebhookInstallOptions
	address := net.JoinHostPort(options.LocalServingHost, strconv.Itoa(options.LocalServingPort))
	listener, err := net.Listen("tcp", address)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
}

// deletedSoon marks the object for the test to delete after it was created.
func deletedSoon(c *ucv1.Cluster) { c.Labels = map[string]string{"deleted": "soon"} }

// serveWebhook answers the installed webhooks until the test ends; the version rules are those of objections.
// Clusters share no control plane for it, because the tests make many of them in one namespace.
func serveWebhook(t *testing.T, objections webhooks.Objections) {
	t.Helper()
	serveWebhooks(t, objections, func(client.Reader) func(context.Context, *ucv1.Cluster) ([]string, error) {
		return func(context.Context, *ucv1.Cluster) ([]string, error) { return nil, nil }
	})
}

func serveWebhooks(
	t *testing.T, objections webhooks.Objections, sharers func(client.Reader) func(context.Context, *ucv1.Cluster) ([]string, error),
) {
	t.Helper()
	g := NewWithT(t)
	options := suite.environment.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{
		Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
	})
	mgr, err := ctrl.NewManager(suite.environment.Config, ctrl.Options{
		Scheme: suite.scheme, WebhookServer: server, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	webhooks.SetupWithManager(
		mgr,
		func(provider string) bool { return provider == "openstack" },
		objections,
		sharers(mgr.GetAPIReader()),
	)

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		NewWithT(t).Eventually(stopped, deadline).Should(Receive(BeNil()))
	})
	g.Eventually(func() error { return server.StartedChecker()(nil) }, deadline, interval).Should(Succeed())
}
