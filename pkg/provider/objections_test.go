package provider_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// clusterOf OpenStack with a version, with or without the feature.
func clusterOf(version string, feature bool, modifiers ...func(*ucv1.Cluster)) *ucv1.Cluster {
	cluster := &ucv1.Cluster{}
	cluster.Spec.Version, cluster.Spec.Cloud.ProviderName = version, "openstack"
	cluster.Spec.Features.ExternalCloudProvider = &feature
	for _, modify := range modifiers {
		modify(cluster)
	}
	return cluster
}

func origin(origin ucv1.Origin) func(*ucv1.Cluster) {
	return func(cluster *ucv1.Cluster) { cluster.Status.Origin = origin }
}

func started(cluster *ucv1.Cluster) {
	at := metav1.Unix(1700000000, 0)
	cluster.Status.Origin, cluster.Status.StartedAt = ucv1.OriginMigrating, &at
}

func inTreeRemoved(status metav1.ConditionStatus) func(*ucv1.Cluster) {
	return func(cluster *ucv1.Cluster) {
		started(cluster)
		cluster.Status.Conditions = []metav1.Condition{{Type: "InTreeConfigurationRemoved", Status: status}}
	}
}

func TestConditionOfACluster(t *testing.T) {
	const last, middle = "is the last with the in-tree provider", "in the middle of a migration"
	for name, test := range map[string]struct {
		modify  []func(*ucv1.Cluster)
		feature bool
		says    string
	}{
		"without the feature it is in-tree":                       {nil, false, last},
		"without the feature it is in-tree, as it was seen":       {[]func(*ucv1.Cluster){origin(ucv1.OriginInTree)}, false, last},
		"with the feature and not started it still is":            {[]func(*ucv1.Cluster){origin(ucv1.OriginMigrating)}, true, last},
		"with the feature that was not looked at yet it still is": {[]func(*ucv1.Cluster){origin(ucv1.OriginInTree)}, true, last},
		"from the start it is migrating":                          {[]func(*ucv1.Cluster){started}, true, middle},
		"while the in-tree flags are there it is migrating":       {[]func(*ucv1.Cluster){inTreeRemoved(metav1.ConditionFalse)}, true, middle},
		"while no one could look it is migrating":                 {[]func(*ucv1.Cluster){inTreeRemoved(metav1.ConditionUnknown)}, true, middle},
		"without the in-tree flags it is external":                {[]func(*ucv1.Cluster){inTreeRemoved(metav1.ConditionTrue)}, true, ""},
		"created with the feature it is external":                 {[]func(*ucv1.Cluster){origin(ucv1.OriginExternal)}, true, ""},
		"created with the feature and not seen yet it is, too":    {nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			objections := everyProvider().Objections(
				clusterOf("1.25.16", test.feature, test.modify...),
				clusterOf("1.26.15", test.feature, test.modify...),
			)
			if test.says == "" {
				NewWithT(t).Expect(objections).To(BeEmpty())
				return
			}
			NewWithT(t).Expect(objections).To(ContainSubstring(test.says))
		})
	}
}

func TestAnUpgradeInAHandOverAcrossMinorsIsNoObjection(t *testing.T) {
	g := NewWithT(t)
	catalogue := everyProvider()
	waiting := func(c *ucv1.Cluster) {
		origin(ucv1.OriginMigrating)(c)
		c.Status.StartedAt = new(metav1.Unix(1, 0))
		c.Status.Handover = &ucv1.HandoverStatus{UpgradeAllowedTo: "1.26"}
	}
	rollingBack := func(c *ucv1.Cluster) { c.Status.Rollback = &ucv1.RollbackStatus{} }
	before := clusterOf("1.25.16", true, waiting)
	g.Expect(catalogue.Objections(before, clusterOf("1.26.15", true, waiting))).To(BeEmpty())
	g.Expect(catalogue.Objections(before, clusterOf("1.25.15", true, waiting))).To(ContainSubstring("in the middle of a migration"))
	g.Expect(catalogue.Objections(before, clusterOf("1.27.16", true, waiting))).To(ContainSubstring("in the middle of a migration"))
	there := func(c *ucv1.Cluster) { c.Status.Handover.WorkloadAllowedAt = c.Status.StartedAt }
	g.Expect(catalogue.Objections(clusterOf("1.26.14", true, waiting, there), clusterOf("1.26.15", true, waiting, there))).To(
		ContainSubstring("in the middle of a migration"), "the CCM is there")
	back := clusterOf("1.25.16", true, waiting, rollingBack)
	g.Expect(catalogue.Objections(back, clusterOf("1.26.15", true, waiting, rollingBack))).To(
		ContainSubstring("in the middle of a migration"))
}

func TestSwitchingTheFeatureOnIsAMigration(t *testing.T) {
	g := NewWithT(t)
	catalogue := everyProvider()
	seen := origin(ucv1.OriginInTree)
	g.Expect(catalogue.Objections(clusterOf("1.26.15", false, seen), clusterOf("1.26.15", true, seen))).To(
		ContainSubstring("is the last with"),
	)
	g.Expect(catalogue.Objections(clusterOf("1.26.15", false), clusterOf("1.26.15", true))).To(
		ContainSubstring("is the last with"),
		"no one saw it yet",
	)
	g.Expect(catalogue.Objections(clusterOf("1.25.16", false, seen), clusterOf("1.25.16", true, seen))).To(BeEmpty())
	g.Expect(catalogue.Objections(clusterOf("1.24.17", false, seen), clusterOf("1.25.16", true, seen))).To(
		ContainSubstring("in the middle of a migration"),
	)
	g.Expect(catalogue.Objections(nil, clusterOf("1.26.15", true))).To(BeEmpty(), "created with it, it is external")
	g.Expect(catalogue.Objections(nil, clusterOf("1.26.15", false))).To(ContainSubstring("is the last with"))
}

func TestGatesOfTheMinorBeforeLeaveToo(t *testing.T) {
	g := NewWithT(t)
	facts, _ := everyProvider().Facts("openstack", "1.26.15")
	g.Expect(facts.RetiredGates).To(ContainElements("CSIMigration", "CSIMigrationOpenStack"), "KCM may be of 1.25, and follows")
}
