package cluster

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/controllers/cluster/status"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
	"github.com/ccm-migration/ccm-migration-controller/test/passes"
)

func plannerOf(t *testing.T, registry *usercluster.Registry, objects ...client.Object) *Planner {
	t.Helper()
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(ucv1.AddToScheme(scheme)).To(Succeed())
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	return NewPlanner(observerOf(t, c, c), c, registry, clocktesting.NewFakeClock(passes.Start()))
}

// awaiting is the pass of a Cluster whose plan is to be approved, with one MachineDeployment.
func awaiting(after time.Duration) *scope {
	s := &scope{Pass: status.Pass{Cluster: passes.ClusterOf(ucv1.OriginMigrating), Now: passes.Start().Add(after)}}
	s.Cluster.Spec.Mode = ucv1.PlanOnlyMode
	s.Observed.Cluster = s.Cluster
	s.Observed.Machines = observation.Known(observation.Machines{Deployments: []observation.MachineDeployment{poolOf("a")}})
	return s
}

func poolOf(name string) observation.MachineDeployment {
	return observation.MachineDeployment{Ref: observation.Ref{Kind: "MachineDeployment", Name: name, UID: name}, Replicas: 2}
}

// knows says that the planner made a plan of what a pass saw.
func (p *Planner) knows(s *scope, digest string) {
	p.plans[client.ObjectKeyFromObject(s.Cluster)] = &planned{
		basis: basisOf(s), plan: observation.ForeseenPlan{Digest: digest, MadeAt: passes.Start()},
	}
}

func TestAPassKnowsAPlanOnlyWhileItIsOfWhatThePassSees(t *testing.T) {
	digest := strings.Repeat("a", 64)
	for name, tc := range map[string]struct {
		after  time.Duration
		change func(*scope)
		known  bool
		asks   bool
	}{
		"one that was just made":           {known: true},
		"one that was made a minute ago":   {after: time.Minute, known: true, asks: true},
		"one of another spec":              {change: func(s *scope) { s.Cluster.Generation++ }, asks: true},
		"one of another Cluster":           {change: func(s *scope) { s.Cluster.UID = "2" }, asks: true},
		"one with another profile":         {change: func(s *scope) { s.profile = &ucv1.ProviderProfileSpec{} }, asks: true},
		"one before a MachineDeployment":   {change: func(s *scope) { pools(s, poolOf("a"), poolOf("b")) }, asks: true},
		"one before a pause":               {change: func(s *scope) { pools(s, pausedPool("a")) }, asks: true},
		"one of so many Machines":          {change: func(s *scope) { pools(s, observation.MachineDeployment{Ref: poolOf("a").Ref}) }, known: true},
		"one of other arguments":           {change: func(s *scope) { s.Observed.ControlPlane = observation.Known(observation.ControlPlane{}) }, asks: true},
		"the approved one, just made":      {after: 29 * time.Second, change: approves(digest), known: true},
		"the approved one, some time ago":  {after: 30 * time.Second, change: approves(digest), asks: true},
		"another than the approved one":    {after: 30 * time.Second, change: approves("b"), known: true},
		"one when Machines are not looked": {change: func(s *scope) { s.Observed.Machines = observation.Unknown[observation.Machines]("") }, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p, s := plannerOf(t, nil), awaiting(tc.after)
			if strings.Contains(name, "approved") {
				tc.change(s)
			}
			p.knows(s, digest)
			if tc.change != nil {
				tc.change(s)
			}
			seen := p.observe(s)
			g.Expect(seen.IsKnown()).To(Equal(tc.known), seen.Why())
			g.Expect(p.asked).To(HaveLen(map[bool]int{true: 1}[tc.asks]))
			p.observe(s)
			g.Expect(p.asked).To(HaveLen(map[bool]int{true: 1}[tc.asks]), "it is asked once")
		})
	}
}

func pools(s *scope, deployments ...observation.MachineDeployment) {
	s.Observed.Machines = observation.Known(observation.Machines{Deployments: deployments})
}

func pausedPool(name string) observation.MachineDeployment {
	deployment := poolOf(name)
	deployment.Paused = true
	return deployment
}

func approves(digest string) func(*scope) {
	return func(s *scope) { s.Cluster.Spec.Approval.PlanDigest = digest }
}

func TestAPlanThatCannotBeMadeIsSaidAndTriedAgainAfterAMinute(t *testing.T) {
	for name, tc := range map[string]struct {
		registry *usercluster.Registry
		problem  string
	}{
		"a user cluster that is not reachable": {registry: usercluster.NewRegistry(usercluster.Options{}), problem: "was not reachable"},
		"a panic":                              {problem: "the controller has a fault"},
	} {
		t.Run(name, func(t *testing.T) {
			g, s := NewWithT(t), awaiting(0)
			p := plannerOf(t, tc.registry, s.Cluster)
			g.Expect(p.observe(s).Why()).To(Equal(planOutdated))
			makePlan(t, p, s)
			g.Expect(p.made).To(HaveLen(1), "a pass reads it")
			g.Expect(p.observe(s).Why()).To(ContainSubstring(tc.problem))
			g.Expect(p.asked).To(HaveLen(1), "not at once")
			s.Now = passes.Start().Add(time.Minute)
			g.Expect(p.observe(s).Why()).To(ContainSubstring(tc.problem), "still")
			g.Expect(p.asked).To(HaveLen(2))
		})
	}
}

func makePlan(t *testing.T, p *Planner, s *scope) {
	t.Helper()
	_, err := p.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(s.Cluster)})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

func TestThePlanOfAClusterThatIsGoneIsForgotten(t *testing.T) {
	g, s := NewWithT(t), awaiting(0)
	p := plannerOf(t, usercluster.NewRegistry(usercluster.Options{}))
	p.observe(s)
	p.forget(client.ObjectKeyFromObject(s.Cluster))
	makePlan(t, p, s)
	g.Expect(p.plans).To(BeEmpty(), "what was asked before is not made")
	g.Expect(p.made).To(BeEmpty())
}

// forgetting has the Cluster gone while its plan is made.
type forgetting struct {
	client.Reader
	planner *Planner
}

func (f forgetting) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	f.planner.forget(key)
	return f.Reader.Get(ctx, key, into, options...)
}

func TestThePlanOfAClusterThatGoesWhileItIsMadeIsNotKept(t *testing.T) {
	g, s := NewWithT(t), awaiting(0)
	p := plannerOf(t, usercluster.NewRegistry(usercluster.Options{}), s.Cluster)
	p.client = forgetting{p.client, p}
	p.observe(s)
	makePlan(t, p, s)
	g.Expect(p.plans).To(BeEmpty())
	g.Expect(p.made).To(BeEmpty(), "no pass reads it")
}
