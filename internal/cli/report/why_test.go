package report

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/docs/runbooks"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/terminal"
)

func TestWhyForPeople(t *testing.T) {
	for _, cluster := range fleet() {
		t.Run(cluster.Name, func(t *testing.T) {
			out, what := &bytes.Buffer{}, blockerOf(&cluster)
			NewWithT(t).Expect(what.text(out, terminal.Screen{Width: terminal.FileWidth}, noon())).To(Succeed())
			expectGolden(t, "why/"+cluster.Name+".txt", out.String())
		})
	}
}

func TestWhyForScripts(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	g.Expect(terminal.Write(out, "yaml", blockerOf(one("gamma")), nil)).To(Succeed())
	expectGolden(t, "why/gamma.yaml", out.String())
}

func TestEachRunbookGivesACommand(t *testing.T) {
	for _, reason := range runbooks.Reasons() {
		t.Run(reason, func(t *testing.T) {
			g := NewWithT(t)
			cluster := clusterAt("alpha", ucv1.OriginMigrating, ucv1.StepRoll, stalls(reason,
				"Machine kube-system/m has no MachineDeployment kube-system/d; Node n-1, Service default/web and Pod default/web-0."))
			what := blockerOf(&cluster)
			g.Expect(what.Acts).To(Equal(person))
			g.Expect(what.Meaning).NotTo(BeEmpty())
			g.Expect(what.Runbook).To(Equal("docs/runbooks/" + reason + ".md"))
			g.Expect(what.Look).NotTo(BeEmpty())
			for _, block := range what.Look {
				for _, command := range block.Commands {
					g.Expect(command).NotTo(MatchRegexp(`\b(NAMESPACE|NAME|NODE|MACHINE|SERVICE)\b`))
				}
			}
		})
	}
}

func TestCommandsThatDoHarmKeepTheNamesToAPerson(t *testing.T) {
	g := NewWithT(t)
	cluster := clusterAt(
		"alpha",
		ucv1.OriginMigrating,
		ucv1.StepRoll,
		stalls(ucv1.BlockedMachinesReason, "Machine kube-system/pet has no MachineDeployment; delete it."),
	)
	what := blockerOf(&cluster)
	g.Expect(blockerOf(one("zeta")).Remedy[0].Commands[0]).To(HaveSuffix(`{"acceptLostManagers":["POD"]}}}'`))
	g.Expect(what.Remedy).To(Equal([]commandBlock{{Where: "user cluster", Only: "only when the Machine is not needed, or a " +
		"MachineDeployment took its place",
		Commands: []string{"kubectl -n MACHINE_NAMESPACE delete machine MACHINE"}}}), "no MachineDeployment is paused, so none is "+
		"unpaused")
}

func TestKubeconfigOfTheUserCluster(t *testing.T) {
	g := NewWithT(t)
	cluster := one("gamma")
	g.Expect(blockerOf(cluster).Kubeconfig).To(Equal("Secret user-gamma/gamma-kubeconfig, key value"))
	cluster.Spec.KubeconfigSecretRef = &ucv1.SecretKeyReference{Name: "mine", Key: "config"}
	g.Expect(blockerOf(cluster).Kubeconfig).To(Equal("Secret user-gamma/mine, key config"))
}

func TestTheWayIntoAClusterIsInTheWayFirst(t *testing.T) {
	g := NewWithT(t)
	g.Expect(blockerOf(one("epsilon")).Reason).To(Equal(ucv1.UnreachableReason))
	stalled := *one("epsilon")
	set(&stalled, ucv1.StalledCondition, metav1.ConditionTrue, ucv1.SLOViolatedReason, "Look.", 0)
	g.Expect(blockerOf(&stalled).Reason).To(Equal(ucv1.UnreachableReason))
	missing := clusterAt(
		"alpha",
		ucv1.OriginMigrating,
		ucv1.StepAddons,
		stands(metav1.ConditionUnknown, ucv1.CouldNotLookReason, "Could not look."),
	)
	set(
		&missing,
		ucv1.UserClusterReachableCondition,
		metav1.ConditionUnknown,
		ucv1.KubeconfigMissingReason,
		"There is no Secret.",
		0,
	)
	g.Expect(blockerOf(&missing)).To(
		And(HaveField("Reason", ucv1.KubeconfigMissingReason), HaveField("Acts", person), HaveField("State", needsYou)),
	)
}

func TestAPauseSaysWhatStillMoves(t *testing.T) {
	g := NewWithT(t)
	g.Expect(blockerOf(one("eta"))).To(
		And(HaveField("Reason", ucv1.PausedReason), HaveField("Message", stillMoves), HaveField("Paused", "")),
	)

	stalled := *one("eta")
	stalls(ucv1.SLOViolatedReason, "Look.")(&stalled)
	g.Expect(blockerOf(&stalled)).To(
		And(HaveField("Reason", ucv1.SLOViolatedReason), HaveField("Message", "Look."), HaveField("Paused", stillMoves)),
	)
	out, what := &bytes.Buffer{}, newClusterDetails(&stalled)
	g.Expect(what.text(out, terminal.Screen{Width: terminal.FileWidth}, noon(), 0)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("  Look. spec.paused is true: the controller changes nothing."))

	unseen := clusterAt(
		"alpha",
		ucv1.OriginMigrating,
		ucv1.StepRoll,
		stands(metav1.ConditionFalse, ucv1.WaitingForMachinesReason, "Waiting."),
	)
	unseen.Spec.Paused = true
	g.Expect(blockerOf(&unseen).Message).To(HaveSuffix("the controller has not said yet what it does not stop."))
}

func TestWholeRunbook(t *testing.T) {
	g, out := NewWithT(t), &bytes.Buffer{}
	g.Expect(writeRunbook(out, blockerOf(one("gamma")))).To(Succeed())
	g.Expect(out.String()).To(HavePrefix("# BlockedMachines\n"))
	g.Expect(writeRunbook(out, blockerOf(one("beta")))).To(MatchError(ContainSubstring("there is no runbook")))
}

func TestCommandsQuoteEveryValueForAShell(t *testing.T) {
	values := map[string]string{"PROVIDER": "x; touch PWNED #", "NAME": "it's $(id)", "NAMESPACE": "kube-system"}
	for command, want := range map[string]string{
		"kubectl -n NAMESPACE logs -l app=PROVIDER-ccm": `kubectl -n kube-system logs -l app='x; touch PWNED #'-ccm`,
		`kubectl get uc NAME`:                           `kubectl get uc 'it'\''s $(id)'`,
		`kubectl patch uc x -p '{"a":"NAME"}'`:          `kubectl patch uc x -p '{"a":"it'\''s $(id)"}'`,
		`echo "NAME"`:                                   `echo "it's \$(id)"`,
		"kubectl -n NAMESPACE get po -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName": "kubectl -n kube-system get po -o " +
			"custom-columns=NAME:.metadata.name,NODE:.spec.nodeName",
	} {
		got, named := fillCommand(command, values, runbooks.Block{})
		NewWithT(t).Expect(got).To(Equal(want))
		NewWithT(t).Expect(named).To(BeTrue())
	}
}
