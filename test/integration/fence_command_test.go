package integration_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// operator is a person who may do in the namespace of the Cluster what docs/operations.md asks for, and nothing else.
func (w *world) operator() commandLine {
	w.t.Helper()
	return w.person(
		rbacv1.PolicyRule{APIGroups: []string{"usercluster.k8c.io"}, Resources: []string{"clusters"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{alpha +
			"-kubeconfig"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{
			APIGroups:     []string{"apps"},
			Resources:     []string{"deployments"},
			ResourceNames: []string{kcm},
			Verbs:         []string{"get"},
		},
	)
}

// person has these rights in the namespace of the Cluster, and no others anywhere.
func (w *world) person(rules ...rbacv1.PolicyRule) commandLine {
	w.t.Helper()
	g := NewWithT(w.t)
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: "operator"}
	g.Expect(suite.client.Create(w.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules})).To(Succeed())
	g.Expect(suite.client.Create(w.t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "operator"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "operator-" + w.namespace}},
	})).To(Succeed())
	return w.commandLineOf("operator-" + w.namespace)
}

// fenceStatus is what a script reads.
type fenceStatus struct {
	Fence  string `json:"fence"`
	Access []struct {
		Verb    string `json:"verb"`
		Allowed bool   `json:"allowed"`
	} `json:"access"`
	Objects []struct {
		There bool `json:"there"`
	} `json:"objects"`
	CCMLease struct {
		Exists  bool   `json:"exists"`
		Holder  string `json:"holder"`
		Renewed bool   `json:"renewed"`
	} `json:"ccmLease"`
	KCMLease struct {
		Lease  string `json:"lease"`
		Holder string `json:"holder"`
	} `json:"kcmLease"`
	Deployments []struct {
		Name      string `json:"name"`
		Available bool   `json:"available"`
	} `json:"deployments"`
	Meaning string `json:"meaning"`
}

func (s fenceStatus) allowed() (verbs []string) {
	for _, access := range s.Access {
		if access.Allowed {
			verbs = append(verbs, access.Verb)
		}
	}
	return verbs
}

func statusOf(t *testing.T, run func(...string) (string, int)) (status fenceStatus) {
	t.Helper()
	g := NewWithT(t)
	out, code := run("fence", "status", alpha, "--look-for=1s", "-o=json")
	g.Expect(code).To(BeZero(), out)
	g.Expect(json.Unmarshal([]byte(out), &status)).To(Succeed(), out)
	return status
}

func TestFenceCommandWorksWithoutAController(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the hand-over", at(ucv1.StepHandover), "pool")
	w.stop()
	run := w.operator().run

	status := statusOf(t, run)
	g.Expect(status.Fence).To(Equal("Closed"))
	g.Expect(status.Access).To(HaveLen(2))
	g.Expect(status.allowed()).To(BeEmpty())
	g.Expect(status.Objects).To(HaveEach(HaveField("There", false)))
	g.Expect(status.KCMLease.Lease).To(Equal("kube-system/" + kcm))
	g.Expect(status.KCMLease.Holder).To(Equal(kcm + "-r1-0_1"))
	g.Expect(status.CCMLease.Exists).To(BeFalse())
	g.Expect(status.Deployments).To(ConsistOf(And(HaveField("Name", "kube-system/"+ccm), HaveField("Available", true))))

	out, code := run("fence", "open", alpha)
	g.Expect(code).To(Equal(2), out)
	g.Expect(out).To(
		And(ContainSubstring("status.handover.fenceOpenedAt is not set"), ContainSubstring("--yes-kube-controller-manager-is-silent")),
	)
	g.Expect(w.playCCM()).To(BeFalse(), "a refusal changes nothing")
	g.Expect(statusOf(t, run).Fence).To(Equal("Closed"))

	out, code = run("fence", "open", alpha, "--yes-kube-controller-manager-is-silent")
	g.Expect(code).To(BeZero(), out)
	g.Expect(out).To(And(ContainSubstring("RoleBinding kube-system/ccm-migration:cloud-controller-manager-lease"),
		ContainSubstring("create, update is allowed now")))
	g.Expect(w.playCCM()).To(BeTrue(), "the authorizer let the last SubjectAccessReview pass")
	status = statusOf(t, run)
	g.Expect(status.Fence).To(Equal("Open"))
	g.Expect(status.allowed()).To(Equal([]string{"create", "update"}))
	g.Expect(status.Objects).To(HaveEach(HaveField("There", true)))
	g.Expect(status.CCMLease.Holder).To(Equal(ccm + "-0_1"))
	g.Expect(status.CCMLease.Renewed).To(BeFalse(), "a Lease that stands still is no leader")

	out, code = run("fence", "close", alpha)
	g.Expect(code).To(BeZero(), out)
	g.Expect(out).To(And(ContainSubstring("create, update is denied now"), ContainSubstring("renew deadline"),
		ContainSubstring(`kubectl patch uc alpha -n `+w.namespace+` --type=merge -p '{"spec":{"paused":true}}'`)))
	g.Expect(w.playCCM()).To(BeFalse())
	g.Expect(statusOf(t, run).Fence).To(Equal("Closed"))
	out, code = run("fence", "close", alpha)
	g.Expect(code).To(BeZero(), out)
}

func TestFenceCommandSeesALeaderAndWhatElseGrants(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	led := func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.FinishedAt != nil }
	w := startedWorld(t, "a leader", led, "pool")
	w.stop()
	run := w.operator().run
	out, code := run("fence", "open", alpha)
	g.Expect(code).To(BeZero(), "silence was proven: %s", out)
	g.Expect(out).To(ContainSubstring("KCM was proven silent by "))
	out, code = run("handover", alpha)
	g.Expect(code).To(BeZero(), out)
	g.Expect(out).To(
		And(
			MatchRegexp(`Leading +done`),
			ContainSubstring(kcm+"-r1-0"),
			ContainSubstring("HandoverCompleted"),
			ContainSubstring("Gap"),
		),
	)

	result := make(chan string, 1)
	go func() {
		out, _ := run("fence", "status", alpha, "--look-for=2s")
		result <- out
	}()
	g.Eventually(func() int {
		w.clock.Step(time.Second)
		w.playCCM()
		return len(result)
	}, deadline, interval).Should(Equal(1))
	g.Expect(<-result).To(And(ContainSubstring("held by "+ccm+"-0_1, renewed while this looked"),
		ContainSubstring("The fence is open, and the CCM leads: "+ccm+"-0_1 runs the cloud loops.")))

	stranger := &rbacv1.RoleBinding{ // With our label, so that the next test takes it out.
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "stranger",
			Labels: map[string]string{"app.kubernetes.io/managed-by": "ccm-migration-controller"}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: metav1.NamespaceSystem, Name: ccm}}}
	g.Expect(w.user.client.Create(t.Context(), stranger)).To(Succeed())
	g.Eventually(func() error {
		return w.asCCM.List(t.Context(), &rbacv1.RoleBindingList{}, client.InNamespace(metav1.NamespaceSystem))
	}, deadline, interval).Should(Succeed(), "the authorizer reads the binding from a watch")
	out, code = run("fence", "close", alpha)
	g.Expect(code).To(Equal(3), out)
	g.Expect(out).To(And(ContainSubstring("the fence is not closed"), ContainSubstring("kubectl auth can-i --list -n kube-system")))
	g.Expect(statusOf(t, run).Fence).To(Equal("Ineffective"))
}

func TestFenceCommandKnowsNoFenceOfOtherProviders(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.create(ofProvider("cloudy"))
	out, code := w.operator().run("fence", "status", alpha)
	g.Expect(code).To(Equal(1), out)
	g.Expect(out).To(ContainSubstring(`provider "cloudy" is not in the catalogue (`))
}

func TestFenceCommandSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create()
	run := w.operator().run
	const token = "example-only-hunter2"
	for name, tc := range map[string]struct {
		kubeconfig map[string][]byte
		want       string
	}{
		"no Secret": {want: "Secret " + w.namespace +
			"/alpha-kubeconfig, key value is missing or empty: put the kubeconfig there"},
		"another key": {kubeconfig: map[string][]byte{"other": w.user.kubeconfig}, want: "key value is missing or empty"},
		"something else in the key": {kubeconfig: map[string][]byte{"value": []byte(token)}, want: "The kubeconfig in Secret " +
			w.namespace + "/alpha-kubeconfig, key value "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w.secret(alpha+"-kubeconfig", tc.kubeconfig)
			for _, verb := range []string{"status", "close"} {
				out, code := run("fence", verb, alpha)
				g.Expect(code).To(Equal(1), out)
				g.Expect(out).To(And(ContainSubstring(w.namespace+"/alpha"), ContainSubstring(tc.want), Not(ContainSubstring(token))))
			}
		})
	}
	t.Run("no Cluster", func(t *testing.T) {
		g := NewWithT(t)
		out, code := run("handover", "beta")
		g.Expect(code).To(Equal(1), out)
		g.Expect(out).To(And(ContainSubstring("cluster "+w.namespace+"/beta does not exist"), ContainSubstring("kubectl get uc -A")))
	})
}
