package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const (
	lastOpenStack = "Kubernetes 1.25 is the last with the in-tree provider openstack: migrate with 1.24 or 1.25, then upgrade."
	middle        = "The version of Kubernetes does not change in the middle of a migration, nor together with its start"
)

func TestVersionRulesAreAskedWhenAClusterIsCreated(t *testing.T) {
	namespace := newNamespace(t)
	serveWebhook(t, suite.catalogue.Objections)
	for name, tc := range map[string]struct {
		modifiers []modifier
		refused   string
	}{
		"the last in-tree minor":           {nil, ""},
		"a minor without in-tree provider": {[]modifier{version("1.26.15")}, lastOpenStack},
		"the same one, external":           {[]modifier{version("1.26.15"), feature(true)}, ""},
		"the manual's vSphere 1.22": {[]modifier{ofProvider("vsphere"), version("1.22.4"), feature(true)}, "The CSI driver of its " +
			"time does not support 1.22"},
		"an external one without a CCM": {[]modifier{version("1.37.0"), feature(true)}, "no OpenStack cloud-controller-manager for " +
			"Kubernetes 1.37"},
	} {
		t.Run(name, func(t *testing.T) {
			expectRefused(t, suite.client.Create(t.Context(), newCluster(namespace, tc.modifiers...)), tc.refused)
		})
	}
}

func TestVersionRulesAreAskedForOldAndNew(t *testing.T) {
	namespace := newNamespace(t)
	migrated := all(feature(true), origin(ucv1.OriginMigrating), started, inTreeRemoved(metav1.ConditionTrue))
	given := map[string]struct {
		given   modifier
		change  modifier
		refused string
	}{
		"an in-tree cluster is not upgraded beyond the last in-tree minor": {
			origin(ucv1.OriginInTree),
			version("1.26.15"),
			lastOpenStack,
		},
		"not in the same request that migrates it, either": {
			origin(ucv1.OriginInTree),
			all(version("1.26.15"), feature(true)),
			middle,
		},
		"nor is it upgraded at all in that request": {
			all(origin(ucv1.OriginInTree), version("1.24.17")),
			all(version("1.25.16"), feature(true)),
			middle,
		},
		"a cluster that has migrated is":  {migrated, version("1.26.15"), ""},
		"it does not skip a minor":        {migrated, version("1.27.16"), "Kubernetes goes from one minor to the next and skips none"},
		"it does not go back":             {migrated, version("1.24.17"), "Kubernetes does not go back"},
		"a cluster that may migrate does": {origin(ucv1.OriginInTree), feature(true), ""},
		"a provider that was never in-tree does not": {
			all(ofProvider("hetzner"), origin(ucv1.OriginInTree)),
			feature(true),
			"Hetzner was never a part of Kubernetes",
		},
	}
	serveWebhook(t, suite.catalogue.Objections)
	for name, tc := range given {
		t.Run(name, func(t *testing.T) {
			c := createCluster(t, newCluster(namespace, tc.given))
			tc.change(c)
			expectRefused(t, suite.client.Update(t.Context(), c, client.DryRunAll), tc.refused)
			expectRefused(t, suite.client.Update(t.Context(), c), tc.refused)
		})
	}
}

func TestUnknownProvidersAreRefusedWithASuggestion(t *testing.T) {
	g, namespace := NewWithT(t), newNamespace(t)
	early := createCluster(t, newCluster(namespace, ofProvider("opnstack")))
	serveWebhook(t, suite.catalogue.Objections)
	late := newCluster(namespace, ofProvider("opnstack"))
	late.Name = "late"
	g.Expect(suite.client.Create(t.Context(), late)).To(MatchError(ContainSubstring("did you mean openstack?")))
	feature(true)(early)
	g.Expect(suite.client.Update(t.Context(), early)).To(MatchError(ContainSubstring("did you mean openstack?")))
	early = fetch(t, early)
	early.Labels = map[string]string{"team": "blue"}
	g.Expect(suite.client.Update(t.Context(), early)).To(Succeed())
}

// What came to be while no one judged may stay, be changed in every other way, be fixed, and be deleted.
func TestVersionRulesRefuseNoStateThatIsThere(t *testing.T) {
	g := NewWithT(t)
	bad := newCluster(newNamespace(t), version("1.27.16"))
	bad.Finalizers = []string{ucv1.ClusterFinalizer}
	createCluster(t, bad)
	mistaken := createCluster(t, newCluster(bad.Namespace, version("1.27.16")))
	serveWebhook(t, suite.catalogue.Objections)

	version("1.28.15")(bad)
	expectRefused(t, suite.client.Update(t.Context(), bad), lastOpenStack)
	bad = fetch(t, bad)
	for _, change := range []modifier{
		func(c *ucv1.Cluster) { c.Labels = map[string]string{"team": "blue"} },
		func(c *ucv1.Cluster) { c.Spec.Paused = true },
		feature(false),
		version("1.27.15"),
	} {
		change(bad)
		g.Expect(suite.client.Update(t.Context(), bad)).To(Succeed())
	}
	bad.Status.Step = ucv1.StepInTree
	g.Expect(suite.client.Status().Update(t.Context(), bad)).To(Succeed())
	g.Expect(suite.client.Delete(t.Context(), bad)).To(Succeed())
	bad = fetch(t, bad)
	version("1.29.14")(bad)
	bad.Finalizers = nil
	g.Expect(suite.client.Update(t.Context(), bad)).To(Succeed(), "the last write of one that is being deleted")
	g.Expect(apierrors.IsNotFound(suite.client.Get(t.Context(), client.ObjectKeyFromObject(bad), bad))).To(BeTrue())

	version("1.25.16")(mistaken)
	g.Expect(suite.client.Update(t.Context(), mistaken)).To(Succeed(), "a version that is refused may be left")
}

func expectRefused(t *testing.T, err error, refused string) {
	t.Helper()
	g := NewWithT(t)
	if refused == "" {
		g.Expect(err).NotTo(HaveOccurred())
		return
	}
	g.Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
	g.Expect(err).To(
		MatchError(
			And(
				ContainSubstring(`"versions.usercluster.k8c.io" denied the request`),
				ContainSubstring(refused),
				ContainSubstring("(https://"),
			),
		),
	)
}
