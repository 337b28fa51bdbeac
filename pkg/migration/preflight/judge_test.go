package preflight

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// story is a check with what it finds, and what it cannot do without.
type story struct {
	id string
	// given is what the cluster is like besides what is wrong.
	given, wrong func(*Facts)
	// severity and objects of what is found; says is a part of its text.
	severity observation.Severity
	objects  []string
	says     string
	// unseen says that what is wrong is that no one can look.
	unseen bool
	// without takes away what has to be looked at; nil: there is nothing.
	without func(*Facts)
}

func only(findings []observation.Finding, id string) []observation.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f observation.Finding) bool { return f.ID != id })
}

func TestAHealthyClusterHasNoFindings(t *testing.T) {
	NewWithT(t).Expect(Judge(healthy(), noon())).To(BeEmpty())
}

func TestEveryCheckIsTold(t *testing.T) {
	g := NewWithT(t)
	told := map[string]bool{}
	for _, s := range stories() {
		told[s.id] = true
	}
	for _, description := range Describe() {
		g.Expect(told).To(HaveKey(description.ID), "a check without a case")
		g.Expect(description.Means).To(HaveSuffix("."))
		g.Expect(IDs()).To(ContainElement(description.ID))
	}
	g.Expect(slices.Compact(IDs())).To(HaveLen(len(IDs())), "an ID is there twice")
}

func TestChecks(t *testing.T) {
	for name, s := range stories() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := healthy()
			if s.given != nil {
				s.given(&o)
			}
			g.Expect(only(Judge(o, noon()), s.id)).To(BeEmpty(), "without what is wrong")

			s.wrong(&o)
			found := only(Judge(o, noon()), s.id)
			g.Expect(found).To(HaveLen(1))
			g.Expect(found[0].Severity).To(Equal(s.severity))
			g.Expect(found[0].NotLookedAt).To(Equal(s.unseen))
			g.Expect(found[0].Objects).To(Equal(s.objects))
			said := start.TextOf(found[0])
			g.Expect(said.Words).To(ContainSubstring(s.says))
			g.Expect(messages.Unnamed(said.Words, said.Objects)).To(Succeed())
			g.Expect(messages.Check(nil, nil, said.Words)).To(Succeed())
			g.Expect(found[0].Reason).To(Equal("PreflightFailed"))

			if s.without != nil {
				s.without(&o)
				g.Expect(only(Judge(o, noon()), s.id)).To(ConsistOf(And(
					HaveField("NotLookedAt", true), HaveField("Message", ContainSubstring("timeout")), HaveField(
						"Message", HavePrefix("Could not look at "),
					),
				)))
			}
		})
	}
}

func TestNothingIsPassedWithoutALook(t *testing.T) {
	g := NewWithT(t)
	o := healthy()
	o.Cluster.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice // Without it, no one asks about its rules.
	found := Judge(Facts{Cluster: o.Cluster}, noon())
	for _, description := range Describe() {
		if description.ID == "NodeAddressesLate" || description.ID == FieldWithoutEffect {
			continue // They rest on the Cluster only.
		}
		g.Expect(only(found, description.ID)).To(
			ConsistOf(And(HaveField("NotLookedAt", true), HaveField("Severity", description.Severity))),
		)
	}
}

func TestWhatNeedsTheCloudIsJudgedApart(t *testing.T) {
	g := NewWithT(t)
	o := healthy()
	blind(&o.Cloud)
	g.Expect(
		only(Judge(o, noon()), "LoadBalancerRefused"),
	).To(ConsistOf(And(HaveField("NotLookedAt", true), HaveField("BeforeRoll", true))))
	for _, finding := range Judge(o, noon()) {
		g.Expect(finding.Blocks()).To(BeFalse(), "the start does not wait for the cloud")
	}
	for _, finding := range JudgeCloud(Facts{Cluster: o.Cluster}, noon()) {
		g.Expect(finding.BeforeRoll).To(BeTrue())
	}
}

func TestFindingsHaveAStableOrder(t *testing.T) {
	g := NewWithT(t)
	o := Facts{Cluster: healthy().Cluster}
	first := Judge(o, noon())
	for range 20 {
		g.Expect(Judge(o, noon())).To(Equal(first))
	}
	g.Expect(slices.IsSortedFunc(first, func(a, b observation.Finding) int {
		rank := map[observation.Severity]int{observation.Blocking: 0, observation.Warning: 1, observation.Info: 2}
		return rank[a.Severity] - rank[b.Severity]
	})).To(BeTrue())
}

// stories are all of them.
func stories() map[string]story {
	all := map[string]story{}
	for _, family := range []map[string]story{
		nodeStories(), nodeNameStories(), volumeStories(), storageStories(), serviceStories(), clusterNameStories(), machineStories(),
		poolStories(), disruptionStories(),
		controlPlaneStories(),
		flagStories(), networkStories(), accessStories(), versionStories(), fieldStories(), settingStories(),
	} {
		maps.Copy(all, family)
	}
	return all
}

func versionStories() map[string]story {
	skewed := func(skew time.Duration) func(*Facts) {
		return func(o *Facts) { edit(&o.Server, func(s *Server) { s.Skew = skew }) }
	}
	noServer := func(o *Facts) { blind(&o.Server) }
	kubelet := func(version string) func(*Facts) {
		return func(o *Facts) { editFirst(&o.NodeDetails, func(n *NodeDetail) { n.KubeletVersion = version }) }
	}
	return map[string]story{
		"the API server is of another minor": {
			id: "VersionDiffers", wrong: func(o *Facts) { edit(&o.Server, func(s *Server) { s.Version = "v1.26.1" }) },
			severity: observation.Blocking, says: "the API server says that it is v1.26.1", without: noServer,
		},
		"a kubelet is newer": {id: "KubeletNewer", wrong: kubelet("v1.26.0"), severity: observation.Blocking, objects: []string{"Node n1"}, says: "newer", without: noServer},
		"a kubelet is three minors old": {
			id: "KubeletTooOld", given: kubelet("v1.23.0"), wrong: kubelet("v1.22.9"), severity: observation.Blocking,
			objects: []string{"Node n1"}, says: "more than 2 minors", without: func(o *Facts) { blind(&o.NodeDetails) },
		},
		"a clock is half a minute ahead": {id: "ClockSkew", wrong: skewed(30 * time.Second), severity: observation.Warning, says: "ahead of ours", without: noServer},
		"a clock is ahead by more than the breaker tolerates": {
			id: "ClockSkew", wrong: skewed(time.Minute), severity: observation.Blocking, says: "more than 1m0s ahead of ours",
			without: noServer,
		},
		"a clock is ahead by less than the breaker tolerates with a longer deadline": {
			id: "ClockSkew", wrong: func(o *Facts) {
				skewed(4 * time.Minute)(o)
				o.Cluster = o.Cluster.DeepCopy()
				o.Cluster.Spec.Rollout.InitializationDeadlineSeconds = new(int32(600))
			}, severity: observation.Warning, says: "ahead of ours", without: noServer,
		},
		"a clock is an hour behind": {id: "ClockSkew", wrong: skewed(-time.Hour), severity: observation.Blocking, says: "behind ours", without: noServer},
		"a load balancer is refused": {
			id: "LoadBalancerRefused", wrong: func(o *Facts) {
				o.Cloud = observation.Known(
					Cloud{Services: []Complaint{{observation.Ref{Kind: "Service", Namespace: "default", Name: "web"}, "quota exceeded"}}},
				)
			}, severity: observation.Blocking, objects: []string{"Service default/web"}, says: "quota exceeded",
			without: func(o *Facts) { blind(&o.Cloud) },
		},
		"a route is refused": {
			id: "RouteRefused", wrong: func(o *Facts) {
				o.Cloud = observation.Known(Cloud{Routes: []Complaint{{observation.NodeRef("n1"), "no"}}})
			},
			severity: observation.Blocking, objects: []string{"Node n1"}, says: "no network", without: func(o *Facts) { blind(&o.Cloud) },
		},
	}
}

func TestWhatWasNotLookedAtIsNotComplete(t *testing.T) {
	g := NewWithT(t)
	whole := healthy().Read
	g.Expect(whole.Complete()).To(BeTrue())
	facts := reflect.TypeFor[Read]()
	for at := range facts.NumField() {
		name := facts.Field(at).Name
		blind := whole
		reflect.ValueOf(&blind).Elem().Field(at).SetZero()
		g.Expect(blind.Complete()).To(Equal(name == "At" || name == "Cloud"), name)
	}
}
