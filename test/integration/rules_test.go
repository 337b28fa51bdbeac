package integration_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

const (
	oneWay            = "spec.features.externalCloudProvider cannot be disabled once it is enabled"
	providerFixed     = "spec.cloud.providerName is immutable"
	clusterNameFixed  = "spec.cloud.clusterName is immutable once it is set"
	versionLocked     = "spec.version may not change while the migration runs"
	controlPlaneFixed = "spec.controlPlane is immutable once the hand-over started"
)

// ruleCase is one update of an object that is there, with its status; no text means that it is accepted.
type ruleCase struct {
	given   []modifier
	change  modifier
	refused string
}

func TestFeatureIsAOneWayDoor(t *testing.T) {
	t.Parallel()
	checkRules(t, map[string]ruleCase{
		"true may not go to false":               {[]modifier{feature(true)}, feature(false), oneWay},
		"features may not be removed once true":  {[]modifier{feature(true)}, featureRemoved, oneWay},
		"the field may not be removed once true": {[]modifier{feature(true)}, fieldRemoved, oneWay},
		"true may not go to false after completion": {
			[]modifier{feature(true), started, inTreeRemoved(metav1.ConditionTrue)},
			feature(false),
			oneWay,
		},
		"unset may go to true":                         {nil, feature(true), ""},
		"unset may go to false":                        {nil, feature(false), ""},
		"false may go to true":                         {[]modifier{feature(false)}, feature(true), ""},
		"false may be removed":                         {[]modifier{feature(false)}, featureRemoved, ""},
		"true may stay true while something else goes": {[]modifier{feature(true)}, func(c *ucv1.Cluster) { c.Spec.Paused = true }, ""},
	})
}

func TestNamesAreImmutable(t *testing.T) {
	t.Parallel()
	checkRules(t, map[string]ruleCase{
		"the provider may not change":             {nil, ofProvider("aws"), providerFixed},
		"the cluster name may be set once":        {nil, clusterName("a"), ""},
		"the cluster name may not change":         {[]modifier{clusterName("a")}, clusterName("b"), clusterNameFixed},
		"the cluster name may not be removed":     {[]modifier{clusterName("a")}, clusterName(""), clusterNameFixed},
		"the cluster name may stay":               {[]modifier{clusterName("a")}, feature(true), ""},
		"provider and feature cannot go together": {nil, all(ofProvider("aws"), feature(true)), providerFixed},
	})
}

func TestWhoChangesTheControlPlane(t *testing.T) {
	t.Parallel()
	changed := func(kind ucv1.ControlPlaneType, change ucv1.ControlPlaneChange) modifier {
		return func(c *ucv1.Cluster) { c.Spec.ControlPlane.Type, c.Spec.ControlPlane.Change = kind, change }
	}
	checkRules(t, map[string]ruleCase{
		"Deployments may be changed by us":     {nil, changed(ucv1.HostedControlPlane, ucv1.ApplyChange), ""},
		"Deployments may be changed by others": {nil, changed("", ucv1.InstructChange), ""},
		"static pods are changed by others":    {nil, changed(ucv1.ExternalControlPlane, ""), ""},
		"static pods may be said to be":        {nil, changed(ucv1.ExternalControlPlane, ucv1.InstructChange), ""},
		"static pods cannot be changed by us": {
			nil,
			changed(ucv1.ExternalControlPlane, ucv1.ApplyChange),
			"spec.controlPlane.change cannot be Apply",
		},
		"a control plane of another kind is refused": {nil, changed("Elsewhere", ""), "spec.controlPlane.type"},
	})
}

func TestVersionIsLockedWhileTheMigrationRuns(t *testing.T) {
	t.Parallel()
	running := []modifier{feature(true), origin(ucv1.OriginMigrating), started}
	checkRules(t, map[string]ruleCase{
		"free without a status": {nil, version("1.26.0"), ""},
		"free before the start": {
			[]modifier{feature(true), origin(ucv1.OriginMigrating)},
			version("1.26.0"),
			"",
		},
		"locked from the start":           {running, version("1.26.0"), versionLocked},
		"locked for a patch release, too": {running, version("1.25.17"), versionLocked},
		"locked while the in-tree flags are there": {
			append(running, inTreeRemoved(metav1.ConditionFalse)),
			version("1.26.0"),
			versionLocked,
		},
		"locked while no one could look": {
			append(running, inTreeRemoved(metav1.ConditionUnknown)),
			version("1.26.0"),
			versionLocked,
		},
		"locked although another condition is true": {
			append(running, condition("HandoverCompleted", metav1.ConditionTrue)),
			version("1.26.0"),
			versionLocked,
		},
		"free when the in-tree flags are gone":     {append(running, inTreeRemoved(metav1.ConditionTrue)), version("1.26.0"), ""},
		"other fields are free while it is locked": {running, func(c *ucv1.Cluster) { c.Spec.Paused = true }, ""},
		"free for a cluster external from the start": {
			[]modifier{feature(true), origin(ucv1.OriginExternal)},
			version("1.26.0"),
			"",
		},
		"the version itself has to look like a version": {nil, version("latest"), "spec.version"},
	})
}

func TestControlPlaneIsImmutableOnceTheHandoverStarted(t *testing.T) {
	t.Parallel()
	named := managerDeployment("kcm")
	migrating := all(feature(true), origin(ucv1.OriginMigrating), started)
	apiServer := func(ownership ucv1.ComponentOwnership) modifier {
		return func(c *ucv1.Cluster) {
			c.Spec.ControlPlane.KubeAPIServer = &ucv1.ControlPlaneComponent{Ownership: ownership}
		}
	}
	scheduler := func(c *ucv1.Cluster) { c.Spec.ControlPlane.KubeScheduler = &ucv1.ControlPlaneComponent{} }
	ours, foreign := apiServer(ucv1.OursComponent), apiServer(ucv1.ForeignComponent)
	checkRules(t, map[string]ruleCase{
		"an API server may be claimed later":     {[]modifier{migrating, handoverStarted}, foreign, ""},
		"one may be claimed later beside a name": {[]modifier{migrating, named, handoverStarted}, ours, ""},
		"a scheduler may be claimed later, too":  {[]modifier{migrating, named, ours, handoverStarted}, scheduler, ""},
		"a claim may not change later":           {[]modifier{migrating, ours, handoverStarted}, foreign, controlPlaneFixed},
		"a claim may not be removed later": {
			[]modifier{migrating, named, ours, handoverStarted},
			controlPlaneRemoved,
			controlPlaneFixed,
		},
		"a name may not be set later with a claim": {[]modifier{migrating, handoverStarted}, all(named, ours), controlPlaneFixed},
		"the owner is ours or foreign":             {nil, apiServer("Theirs"), "spec.controlPlane.kubeAPIServer.ownership"},
		"free without a status":                    {nil, named, ""},
		"free with the feature but not seen yet":   {[]modifier{feature(true)}, named, ""},
		"free while in-tree":                       {[]modifier{origin(ucv1.OriginInTree)}, named, ""},
		"free before the hand-over":                {[]modifier{migrating}, named, ""},
		"free when external":                       {[]modifier{feature(true), origin(ucv1.OriginExternal)}, named, ""},
		"may not be set later":                     {[]modifier{migrating, handoverStarted}, named, controlPlaneFixed},
		"may not change later": {
			[]modifier{migrating, named, handoverStarted},
			managerDeployment("other"),
			controlPlaneFixed,
		},
		"may not be removed later": {
			[]modifier{migrating, named, handoverStarted},
			controlPlaneRemoved,
			controlPlaneFixed,
		},
		"may not be set when external, later": {
			[]modifier{feature(true), origin(ucv1.OriginExternal), handoverStarted},
			named,
			controlPlaneFixed,
		},
		"may stay while something else is changed": {
			[]modifier{migrating, named, handoverStarted},
			func(c *ucv1.Cluster) { c.Spec.Paused = true },
			"",
		},
	})
}

func TestProtocolIsImmutableOnceTheMigrationStarted(t *testing.T) {
	t.Parallel()
	migrating := all(feature(true), origin(ucv1.OriginMigrating), started)
	protocol := func(choice ucv1.HandoverProtocolChoice) modifier {
		return func(c *ucv1.Cluster) { c.Spec.Handover.Protocol = choice }
	}
	const fixed = "spec.handover.protocol is immutable once the migration started"
	checkRules(t, map[string]ruleCase{
		"free before the start":          {[]modifier{feature(true)}, protocol(ucv1.SerializedProtocolChoice), ""},
		"may not be set later":           {[]modifier{migrating}, protocol(ucv1.SerializedProtocolChoice), fixed},
		"the default may be written out": {[]modifier{migrating}, protocol(ucv1.AutoProtocol), ""},
		"may not be removed later":       {[]modifier{migrating, protocol(ucv1.SerializedProtocolChoice)}, protocol(""), fixed},
		"the rest of it stays free": {[]modifier{migrating}, func(c *ucv1.Cluster) {
			c.Spec.Handover.AcceptLostManagers = []string{"kcm-1"}
		}, ""},
	})
}

func TestLeaderMigrationIsForItsProtocol(t *testing.T) {
	t.Parallel()
	mode := func(choice ucv1.HandoverProtocolChoice, mode ucv1.LeaderMigrationMode) modifier {
		return func(c *ucv1.Cluster) { c.Spec.Handover.Protocol, c.Spec.Handover.LeaderMigration = choice, mode }
	}
	const other = "spec.handover.leaderMigration is for protocol LeaderMigration only"
	checkRules(t, map[string]ruleCase{
		"the default may be written out": {nil, mode(ucv1.LeaderMigrationProtocolChoice, ucv1.SameMinorLeaderMigration), ""},
		"or left out":                    {nil, mode(ucv1.LeaderMigrationProtocolChoice, ""), ""},
		"not with the protocol left out": {nil, mode("", ucv1.SameMinorLeaderMigration), other},
		"not with another protocol":      {nil, mode(ucv1.FencedProtocolChoice, ucv1.SameMinorLeaderMigration), other},
		"across minors":                  {nil, mode(ucv1.LeaderMigrationProtocolChoice, ucv1.AcrossMinorsLeaderMigration), ""},
		"there is no other value":        {nil, mode(ucv1.LeaderMigrationProtocolChoice, "Minors"), "SameMinor"},
		"it is immutable once the migration started": {
			[]modifier{feature(true), origin(ucv1.OriginMigrating), started, mode(ucv1.LeaderMigrationProtocolChoice, "")},
			mode(ucv1.LeaderMigrationProtocolChoice, ucv1.AcrossMinorsLeaderMigration),
			"spec.handover.leaderMigration is immutable once the migration started",
		},
		"the default may still be written out": {
			[]modifier{feature(true), origin(ucv1.OriginMigrating), started, mode(ucv1.LeaderMigrationProtocolChoice, "")},
			mode(ucv1.LeaderMigrationProtocolChoice, ucv1.SameMinorLeaderMigration), "",
		},
	})
}

func TestTheVersionChangesInAHandOverAcrossMinors(t *testing.T) {
	t.Parallel()
	allowed := func(c *ucv1.Cluster) {
		handoverStarted(c)
		c.Status.Handover.UpgradeAllowedTo = "1.26"
	}
	rollingBack := func(c *ucv1.Cluster) { c.Status.Rollback = &ucv1.RollbackStatus{} }
	waiting := []modifier{feature(true), origin(ucv1.OriginMigrating), started, allowed}
	checkRules(t, map[string]ruleCase{
		"to the minor that is allowed":    {waiting, version("1.26.15"), ""},
		"and with a v":                    {waiting, version("v1.26.15"), ""},
		"to no other one":                 {waiting, version("1.27.0"), versionLocked},
		"to none that begins like it":     {waiting, version("1.261.0"), versionLocked},
		"not to another patch of the old": {waiting, version("1.25.1"), versionLocked},
		"not before it is allowed":        {[]modifier{feature(true), origin(ucv1.OriginMigrating), started, handoverStarted}, version("1.26.15"), versionLocked},
		"not when the CCM is there": {append(waiting, func(c *ucv1.Cluster) {
			c.Status.Handover.WorkloadAllowedAt = c.Status.StartedAt
		}), version("1.26.15"), versionLocked},
		"not while the migration goes back": {append(waiting, rollingBack), version("1.26.15"), versionLocked},
	})
}

func TestMaxConcurrentIsANumberOrAPercentage(t *testing.T) {
	t.Parallel()
	at := func(value intstr.IntOrString) modifier {
		return func(c *ucv1.Cluster) { c.Spec.Rollout.MaxConcurrent = &value }
	}
	const field = "spec.rollout.maxConcurrent is a number from 0"
	checkRules(t, map[string]ruleCase{
		"a number":                        {nil, at(intstr.FromInt32(3)), ""},
		"none":                            {nil, at(intstr.FromInt32(0)), ""},
		"a percentage":                    {nil, at(intstr.FromString("25%")), ""},
		"all of them":                     {nil, at(intstr.FromString("100%")), ""},
		"no percent":                      {nil, at(intstr.FromString("0%")), ""},
		"less than nothing is refused":    {nil, at(intstr.FromInt32(-1)), field},
		"a word is refused":               {nil, at(intstr.FromString("many")), field},
		"a number in quotes is refused":   {nil, at(intstr.FromString("2")), field},
		"more than everything is refused": {nil, at(intstr.FromString("101%")), field},
	})
}

func handoverStarted(c *ucv1.Cluster) {
	at := metav1.Unix(1700000000, 0)
	c.Status.Handover = &ucv1.HandoverStatus{StartedAt: &at}
}

func fieldRemoved(c *ucv1.Cluster) { c.Spec.Features.ExternalCloudProvider = nil }

func all(modifiers ...modifier) modifier {
	return func(c *ucv1.Cluster) {
		for _, modify := range modifiers {
			modify(c)
		}
	}
}

func checkRules(t *testing.T, cases map[string]ruleCase) {
	t.Helper()
	namespace := newNamespace(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := createCluster(t, newCluster(namespace, tc.given...))
			tc.change(c)
			err := suite.client.Update(t.Context(), c)
			if tc.refused == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(Satisfy(apierrors.IsInvalid))
			g.Expect(err).To(MatchError(ContainSubstring(tc.refused)))
		})
	}
}
