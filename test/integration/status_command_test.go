package integration_test

import (
	"context"
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/types"
	"github.com/spf13/cobra"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// reader may do that with Clusters in the namespace, and nothing else.
func (w *world) reader(verbs ...string) commandLine {
	w.t.Helper()
	return w.person(rbacv1.PolicyRule{APIGroups: []string{"usercluster.k8c.io"}, Resources: []string{"clusters"}, Verbs: verbs})
}

func TestStatusAndWhyNeedClustersOnly(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the proof of silence", provingSilence, "pool")
	w.pass()
	run := w.reader("get", "list").run

	var out string
	g.Eventually(func() int {
		var code int
		out, code = run("status")
		return code
	}, deadline, interval).Should(BeZero(), "the authorizer reads the rules from a watch")
	g.Expect(out).To(
		And(ContainSubstring("1 Cluster: 1 working"), ContainSubstring(w.namespace+"/"+alpha), ContainSubstring("Handover")),
	)

	out, code := run("status", alpha)
	g.Expect(code).To(BeZero(), out)
	g.Expect(out).To(And(ContainSubstring("▸ Settled"), ContainSubstring("Waits for: ProvingSilence"), ContainSubstring("Lately")))

	out, code = run("status", alpha, "-o=json")
	g.Expect(code).To(BeZero(), out)
	var report struct {
		State string `json:"state"`
		Steps []any  `json:"steps"`
		Next  struct {
			Reason string `json:"reason"`
			Look   []any  `json:"look"`
		} `json:"next"`
	}
	g.Expect(json.Unmarshal([]byte(out), &report)).To(Succeed(), out)
	g.Expect(report.State).To(Equal("Working"))
	g.Expect(report.Steps).To(HaveLen(10))
	g.Expect(report.Next.Reason).To(Equal(ucv1.ProvingSilenceReason))
	g.Expect(report.Next.Look).NotTo(BeEmpty())

	out, code = run("why", alpha)
	g.Expect(code).To(BeZero(), out)
	g.Expect(out).To(
		And(
			ContainSubstring("ccm-migration-controller handover alpha -n "+w.namespace),
			ContainSubstring("docs/runbooks/ProvingSilence.md"),
		),
	)
	out, code = run("why", alpha, "--runbook")
	g.Expect(code).To(BeZero(), out)
	g.Expect(out).To(HavePrefix("# ProvingSilence"))

	out, code = run("status", "no one")
	g.Expect(code).To(Equal(1))
	g.Expect(out).To(ContainSubstring("does not exist"))
}

func TestStatusGoesOnByAWatchWhereItMay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		verbs, arguments []string
		note             types.GomegaMatcher
	}{
		"the fleet":   {[]string{"get", "list", "watch"}, nil, Not(ContainSubstring("Looking every"))},
		"one Cluster": {[]string{"get", "list", "watch"}, []string{alpha}, Not(ContainSubstring("Looking every"))},
		"without the right to watch": {[]string{"get", "list"}, []string{alpha}, ContainSubstring("Looking every 100ms: watching " +
			"Clusters is not allowed")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := startedWorld(t, "the proof of silence", provingSilence, "pool")
			person := w.reader(test.verbs...)
			allowed := func() int { _, code := person.run("status"); return code }
			g.Eventually(allowed, deadline, interval).Should(BeZero(), "the authorizer reads the rules from a watch")

			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			out, done := gbytes.NewBuffer(), make(chan error, 1)
			arguments := append([]string{"status", "--watch", "--interval=100ms"}, test.arguments...)
			run := func(command *cobra.Command) error { return command.ExecuteContext(ctx) }
			go func() { done <- person.execute(run, out, arguments...) }()
			g.Eventually(out, deadline, interval).Should(gbytes.Say("Handover|Silent"))

			c, _ := w.cluster()
			c.Spec.Paused = true
			g.Expect(suite.client.Update(t.Context(), c)).To(Succeed())
			w.pass()
			g.Eventually(out, deadline, interval).Should(gbytes.Say("(?i)paused"))
			stop()
			g.Eventually(done, deadline).Should(Receive(BeNil()))
			g.Expect(string(out.Contents())).To(test.note)
		})
	}
}

func TestTimelineSaysWhoPausedAndWhoVouched(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := startedWorld(t, "the proof of silence", provingSilence, "pool")
	by := func(manager string, modify modifier) {
		c, _ := w.cluster()
		modify(c)
		g.Expect(suite.client.Update(t.Context(), c, client.FieldOwner(manager))).To(Succeed())
		w.pass()
	}
	by("anna", func(c *ucv1.Cluster) { c.Spec.Rollout.AcceptNodes = []string{"bastion", "jump"} })
	by("berta", func(c *ucv1.Cluster) { c.Spec.Paused = true })
	by("carla", func(c *ucv1.Cluster) { c.Spec.Rollout.AcceptNodes = []string{"jump"} })
	by("dora", func(c *ucv1.Cluster) { c.Spec.Paused = false })

	var told []string
	for _, entry := range w.status().Timeline {
		switch entry.Kind {
		case ucv1.TimelineAcceptance, ucv1.TimelineHalt:
			told = append(told, entry.Actor+": "+entry.Message)
		default:
		}
	}
	g.Expect(told).To(HaveExactElements(
		HaveSuffix(": Accepted in spec.preflight.accept: ClockSkew: the clock of the tests is stepped."),
		"anna: Accepted in spec.rollout.acceptNodes: bastion, jump.",
		"berta: spec.paused was set: the controller changes nothing.",
		"unknown: No longer accepted in spec.rollout.acceptNodes: bastion.",
	))
	g.Expect(w.status().Timeline).To(
		ContainElement(And(HaveField("Kind", ucv1.TimelineResume), HaveField("Reason", ucv1.PausedReason))),
	)
	g.Expect(w.status().Acceptances).To(ContainElement(And(HaveField("Value", "jump"), HaveField("By", "anna"))))
}
