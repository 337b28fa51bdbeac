package integration_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
)

// inTreeWorld is a cluster whose feature is off and whose control plane runs; one that waits for its first look.
func inTreeWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("small", 1)
	w.playKCM(kcm + "-r1-0")
	w.create()
	w.pass()
	return w
}

// look lets time go on to the next look, and makes it.
func (w *world) look() {
	w.t.Helper()
	w.clock.SetTime(w.status().LookAhead.NextAt.Time)
	w.playKCM(kcm + "-r1-0")
	w.pass()
}

func TestALookAheadSaysWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := inTreeWorld(t)
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", "NotLookedYet")),
	)
	first := w.status().LookAhead.NextAt.Time
	g.Expect(first.Sub(w.clock.Now())).To(And(BeNumerically(">", -time.Second), BeNumerically("<=", 6*time.Hour)))

	w.restart()
	w.clock.SetTime(first.Add(-time.Minute))
	result := w.pass()
	g.Expect(w.status().LookAhead).To(HaveField("LookedAt", BeNil()), "a restart does not look before it is due")
	g.Expect(result.RequeueAfter).To(Equal(time.Minute), "nor does it wait again")

	w.look()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", "NothingBlocks")),
		"%s",
		pretty(w.status()),
	)
	looked := w.status()
	g.Expect(looked.LookAhead.NextAt.Sub(first)).To(BeNumerically("~", 24*time.Hour, time.Hour))
	w.expectVerdict(kstatus.CurrentStatus)

	w.restart()
	w.requests.take()
	w.clock.Step(time.Minute)
	w.pass()
	g.Expect(w.requests.take()).To(BeEmpty(), "nothing is looked at, and nothing is written")

	node := &corev1.Node{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Name: "small-0-0"}, node)).To(Succeed())
	for i := range node.Status.Conditions {
		node.Status.Conditions[i].Status = corev1.ConditionFalse
	}
	g.Expect(w.user.client.Status().Update(t.Context(), node)).To(Succeed())
	w.look()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "Findings"),
			HaveField("Message", ContainSubstring("NodeNotReady"))),
	)
	g.Expect(w.status().Preflight.Blocking).To(BeEquivalentTo(1), "%s", pretty(w.status()))
	w.expectVerdict(kstatus.CurrentStatus)
	g.Expect(w.condition("Ready").Reason).To(Equal("InTree"))

	w.edit(func(c *ucv1.Cluster) { c.Spec.Preflight.LookAhead = ucv1.NeverLookAhead })
	w.pass()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(BeZero())
	g.Expect(w.status().Preflight).To(BeNil(), "what is not looked at any more is not shown")
	g.Expect(w.status().LookAhead).To(BeNil())
}

// A look reads: in the management cluster nothing but the status of the Cluster is written, and in the user cluster nothing
// at all. Reviews of access are created, which is how they are asked, and never stored, and what webhooks make of a write of a
// MachineDeployment is asked by a dry run.
func TestALookAheadWritesNothing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := inTreeWorld(t)
	before, user := w.snapshot(), w.user.markAudit(t)
	w.requests.take()
	w.look()
	g.Expect(w.status().LookAhead.LookedAt).NotTo(BeNil())
	g.Expect(w.requests.take()).To(ConsistOf("PATCH /apis/usercluster.k8c.io/v1alpha1/namespaces/" + w.namespace +
		"/clusters/alpha/status"))
	g.Expect(w.snapshot()).To(Equal(before))

	reads, reviews := 0, 0
	for _, event := range user.since(t) {
		if event.Who() != controllerIdentity {
			continue
		}
		switch {
		case !event.Writes():
			reads++
			g.Expect(event.Verb).NotTo(Equal("watch"), event.RequestURI)
		case event.Dry():
			g.Expect(event.Verb).To(Equal("patch"), event.RequestURI)
			g.Expect(event.RequestURI).To(ContainSubstring("/machinedeployments/"))
		default:
			g.Expect(event.Verb).To(Equal("create"), event.RequestURI)
			g.Expect(event.RequestURI).To(MatchRegexp("^/apis/authorization.k8s.io/v1/(self)?subjectaccessreviews"))
			reviews++
		}
		g.Expect(event.UserAgent).To(Equal(ucv1.FieldManager))
	}
	t.Logf("a look takes %d reads and %d reviews", reads, reviews)
	g.Expect(reads).To(BeNumerically(">", 10))

	quiet := w.user.markAudit(t)
	for range 30 {
		w.clock.Step(time.Minute)
		w.pass()
	}
	all, _, _ := audit.Count(quiet.since(t), controllerIdentity)
	g.Expect(all).To(BeZero(), "it is let go of")
}

func TestSwitchingTheFeatureOnEndsTheLooks(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := inTreeWorld(t)
	w.look()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition).Status).To(Equal(metav1.ConditionTrue))
	w.edit(feature(true))
	w.until("the step after preflight", at(ucv1.StepAddons))
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(BeZero())
	g.Expect(w.status().LookAhead).To(BeNil())
	g.Expect(w.condition(ucv1.PreflightPassedCondition).Status).To(Equal(metav1.ConditionTrue))
}

func TestALookThatDoesNotReachTheUserClusterIsTriedAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := inTreeWorld(t)
	w.look()
	found := w.status().Preflight
	w.replaceKubeconfig(w.withoutCredentials())
	w.look()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring("ConnectionRefused"))),
		"what only a person can fix is a finding",
	)

	w.secret(alpha+"-kubeconfig", nil)
	w.look()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", "CouldNotLook"),
			HaveField("Message", ContainSubstring("put the kubeconfig there"))),
	)
	g.Expect(w.status().LookAhead.NextAt.Sub(w.clock.Now())).To(BeNumerically("<=", 13*time.Hour))
	g.Expect(w.condition("Ready")).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", "CouldNotLook")),
		"what can't be looked at is not claimed")
	w.expectVerdict(kstatus.InProgressStatus)

	w.secret(alpha+"-kubeconfig", map[string][]byte{"value": w.kubeconfig})
	w.look()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition).Status).To(Equal(metav1.ConditionTrue))
	g.Expect(w.status().Preflight).To(HaveField("Warnings", found.Warnings))
	g.Expect(w.condition("Ready").Reason).To(Equal("InTree"))
	w.expectVerdict(kstatus.CurrentStatus)
}

// The Lease of KCM is looked at, too: whoever holds it is a pod of KCM, or is watched for as long as the Lease lasts.
func TestALookAheadSaysWhetherKCMLeads(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := inTreeWorld(t)
	w.playKCM("elsewhere")
	w.clock.SetTime(w.status().LookAhead.NextAt.Time)
	g.Expect(w.pass().RequeueAfter).To(Equal(5*time.Second), "it has to be watched")
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition).Reason).To(Equal("NotLookedYet"))
	for range 3 {
		w.clock.Step(5 * time.Second)
		w.playKCM("elsewhere")
		w.pass()
	}
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Reason", "Findings"), HaveField("Message", ContainSubstring("LeaderUnknown"))),
	)
	g.Expect(w.condition("Ready")).To(And(HaveField("Status", metav1.ConditionUnknown), HaveField("Reason", "CouldNotLook")))

	lookPatiently := func() {
		w.clock.SetTime(w.status().LookAhead.NextAt.Time)
		for range 5 {
			w.pass()
			w.clock.Step(5 * time.Second)
		}
	}
	lookPatiently()
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition)).To(
		And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "CloudLoopsUnattended"),
			HaveField("Message", HavePrefix("No manager runs the cloud loops: no process of Deployment"))),
	)
	since := w.status().UnattendedSince
	g.Expect(since).NotTo(BeNil())
	for range 5 {
		if w.condition("Stalled").Reason == ucv1.CloudLoopsUnattendedReason {
			break
		}
		lookPatiently()
	}
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Ready")).To(
		And(HaveField("Reason", "CloudLoopsUnattended"), HaveField("Message", ContainSubstring("that leads"))),
	)
	w.restart()
	w.pass()
	w.expectVerdict(kstatus.FailedStatus)

	w.look()
	g.Expect(w.condition("Ready").Reason).To(Equal("InTree"), "it leads again")
	w.expectVerdict(kstatus.CurrentStatus)
}

// With the feature off, a KCM that is not there or is external is no in-tree cluster, and both are seen without a look.
func TestAnInTreeClusterIsReadyOnlyWithAKCMThatRunsTheLoops(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.create()
	w.pass()
	g.Expect(w.condition("Ready")).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", "InputInvalid"),
		HaveField("Message", ContainSubstring("Deployment "+w.namespace+"/kube-controller-manager does not exist"))))
	w.expectVerdict(kstatus.FailedStatus)

	w.deployControlPlane("--cloud-provider=external")
	w.pass()
	g.Expect(w.condition("Ready")).To(
		And(
			HaveField("Reason", "LoopsOffAlready"),
			HaveField("Message", ContainSubstring("set spec.features.externalCloudProvider to true")),
		),
	)
	w.expectVerdict(kstatus.FailedStatus)

	deployment := w.deployment(kcm)
	deployment.Spec.Replicas = new(int32(0))
	g.Expect(suite.client.Update(t.Context(), deployment)).To(Succeed())
	w.pass()
	g.Expect(w.condition("Ready")).To(And(HaveField("Reason", "InTree"), HaveField("Message", ContainSubstring("is scaled to 0"))))
	w.expectVerdict(kstatus.CurrentStatus)
}

// scaleToZero puts the control plane to sleep.
func (w *world) scaleToZero() {
	w.t.Helper()
	g, deployments := NewWithT(w.t), &appsv1.DeploymentList{}
	g.Expect(suite.client.List(w.t.Context(), deployments, client.InNamespace(w.namespace))).To(Succeed())
	for _, deployment := range deployments.Items {
		deployment.Spec.Replicas = new(int32(0))
		g.Expect(suite.client.Update(w.t.Context(), &deployment)).To(Succeed())
		for _, pod := range w.pods(deployment.Name) {
			w.forceDelete(&pod)
		}
	}
}

// A control plane that sleeps answers no one: that is told, although no user cluster was reached, and is no failure.
func TestALookAtAControlPlaneThatSleeps(t *testing.T) {
	t.Parallel()
	g, w := NewWithT(t), inTreeWorld(t)
	w.look()
	g.Expect(w.status().LookAhead.Leader).To(Equal(ucv1.LeaderLeads))
	kubeconfig(func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://" + closedPort(t) })(w)
	w.scaleToZero()
	w.clock.SetTime(w.status().LookAhead.NextAt.Time)
	w.pass()
	g.Expect(w.status().LookAhead.Leader).To(Equal(ucv1.LeaderHibernated))
	g.Expect(w.condition(ucv1.ReadyToMigrateCondition).Message).NotTo(ContainSubstring("it was not looked at"),
		"what needs no user cluster was looked at")
}
