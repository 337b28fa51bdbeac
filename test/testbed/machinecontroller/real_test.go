package machinecontroller_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// fact is something that the real ones do, and a decision of ours can see.
type fact struct {
	// real says what, at the line of the source that begins with quote. A source of osm: is the operating-system-manager's.
	real, source, quote string
	// shown is the test of the stand-in's package that shows it, and model the file of pkg/simulation that has it, too.
	shown, model string
	// without is why the stand-in does not do it.
	without string
}

// facts of machine-controller v1.66.2 (d28a9b455) and operating-system-manager 9131d368.
func facts() []fact {
	return append(factsOfMachines(), factsOfOthers()...)
}

func factsOfMachines() []fact {
	const controller, set = "pkg/controller/machine/controller.go:", "pkg/controller/machineset/"
	return []fact{
		{"a Node wakes by a change of Ready only", controller + "226", "if newCondition.Status == oldCondition.Status {",
			"controller/TestOnlyAChangeOfReadyWakesAMachine", "wakes.go", ""},
		{"a Node that no Machine is labeled for wakes those without Node", controller + "267", "if machine.Status.NodeRef == nil {",
			"controller/TestANodeWakesItsMachineOrAllThatHaveNone", "wakes.go", ""},
		{"a MachineSet is woken by Machines, not by Nodes", set + "controller.go:94", "Owns(&clusterv1alpha1.Machine{}).",
			"controller/TestAMachineSaysOnceThatItsNodeWasReady", "wakes.go", ""},
		{"everything is looked at again after five minutes", "cmd/machine-controller/main.go:296", "mgr, err := createManager(5*time.Minute",
			"leader/TestTheLeaseStaysHeldAtTheEnd", "elected.go", ""},
		{"Ready is noted once, without a time", controller + "488", "m.Status.Conditions = append(",
			"controller/TestAMachineSaysOnceThatItsNodeWasReady", "wakes.go", ""},
		{"available is what the Node's Ready says, tainted or not", set + "status.go:185", "if !readyCondition.LastTransitionTime.IsZero()",
			"controller/TestAMachineSetLooksOnceMoreAfterMinReadySeconds", "machines.go", ""},
		{"one look after minReadySeconds, and only if all are Ready", set + "controller.go:236", "updatedMS.Status.ReadyReplicas == replicas",
			"controller/TestAMachineSetLooksOnceMoreAfterMinReadySeconds", "wakes.go", ""},
		{"any Machine goes that is not marked", set + "delete_policy.go:129", "return randomDeletePolicy, nil",
			"controller/TestAMarkedMachineGoesFirstAndElseAny", "nodes.go", ""},
		{"a Node is found by providerID or address", controller + "1075", "if node := findNodeByProviderID(",
			"controller/TestNodesAreFoundByProviderIDOrAddress", "nodes.go", ""},
		{"a Machine of an in-tree provider has no providerID", controller + "920", "inTree := providerconfig.IntreeCloudProvider",
			"controller/TestInTreePool", "", ""},
		{"an instance is looked at 30 seconds after it was made", controller + "861",
			"return &reconcile.Result{RequeueAfter: 30 * time.Second}", "", "",
			"an instance of simcloud boots for -boot-delay, which stands for both waits: a demo would take minutes longer"},
		{"and every 15 seconds while it has no address", controller + "898",
			"return &reconcile.Result{RequeueAfter: 15 * time.Second}", "", "", "an instance of simcloud has its addresses at once"},
		{"labels, annotations and taints come when it is Ready", controller + "475", "return nil, r.ensureNodeLabelsAnnotationsAndTaints(",
			"controller/TestANodeIsFurnishedWhenItIsReady", "wakes.go", ""},
		{"without the flag, a providerID that no CCM knows", controller + "463", "if !inTree && !r.nodeSettings.ExternalCloudProvider",
			"controller/TestWithoutTheFlagAReadyNodeGetsAProviderIDThatNoCCMKnows", "nodes.go", ""},
		{"a Machine without Node is made again", controller + "961", "if time.Since(machine.CreationTimestamp.Time) > *r.joinClusterTimeout",
			"controller/TestAMachineThatDoesNotJoinInTimeIsMadeAgain", "nodes.go", ""},
		{"a set of another revision boots no Machine", controller + "842", "if bootstrapSecretRevision != machineDeploymentRevision",
			"machines/TestKubeletIsExternal", "nodes.go", ""},
		{"a Machine without MachineDeployment never boots", "pkg/controller/util/machine.go:58", "return \"\", \"\", fmt.Errorf(\"failed to find",
			"controller/TestStandaloneMachines", "nodes.go", ""},
		{"a drain is looked at every ten seconds", controller + "639", "return &reconcile.Result{RequeueAfter: 10 * time.Second}",
			"controller/TestDrainHonoursDisruptionBudgets", "nodes.go", ""},
		{"an instance is looked for until it is gone", controller + "723", "return &reconcile.Result{RequeueAfter: deletionRetryWaitPeriod}",
			"controller/TestDrainHonoursDisruptionBudgets", "nodes.go", ""},
		{"a Node that is not Ready is not drained", controller + "560", "if !nodeIsReady(node) {",
			"controller/TestDrainIsSkipped", "", ""},
		{"-skip-eviction-after ends a drain", controller + "534", "if machine.DeletionTimestamp != nil && time.Since(",
			"controller/TestDrainIsSkipped", "", ""},
		{"vSphere's volumes are waited for", controller + "638", "if evictedSomething || deletedSomething || !volumesFree {", "", "",
			"simcloud is not vSphere; what we say of it is in pkg/migration, TestDrain*, and depends on the profile alone"},
		{"a failed boot is retried with growing pauses", controller + "838", "return &reconcile.Result{RequeueAfter: 3 * time.Second}", "", "",
			"no deadline of ours is shorter than a minute"},
	}
}

func factsOfOthers() []fact {
	const deployments = "pkg/controller/machinedeployment/"
	return []fact{
		{"the Lease stays held at the end", "cmd/machine-controller/main.go:330", "LeaderElection:          enableLeaderElection,",
			"leader/TestTheLeaseStaysHeldAtTheEnd", "elected.go", ""},
		{"so does that of the other one", "osm:cmd/osm-controller/main.go:333", "LeaderElection:          opt.enableLeaderElection,",
			"leader/TestTheLeaseStaysHeldAtTheEnd", "elected.go", ""},
		{"a paused one is scaled, to 0 where the new set is saturated", deployments + "sync.go:246", "if dutil.IsSaturated(",
			"rolling/TestPaused", "rolling.go", ""},
		{"a set whose minReadySeconds changes counts as none", deployments + "sync.go:114", "return nil, r.Update(ctx, msCopy)",
			"rolling/TestPaused", "rolling.go", ""},
		{"one that gets an annotation, too", "pkg/controller/util/machine_deployment.go:176", "ms.Annotations[k] = v",
			"controller/TestAnAnnotationOfAPausedMachineDeploymentRaisesItsOldSet", "", ""},
		{"a MachineDeployment is deleted after what it has", deployments + "controller.go:162", "if !contains(d.Finalizers, metav1.Finalizer",
			"controller/TestAMachineDeploymentIsDeletedAfterWhatItHas", "deleting.go", ""},
		{"so is a MachineSet", "pkg/controller/machineset/controller.go:168", "if !contains(machineSet.Finalizers, metav1.Finalizer",
			"controller/TestAMachineDeploymentIsDeletedAfterWhatItHas", "deleting.go", ""},
		{"who makes a Machine is stamped at its creation", "pkg/admission/machines.go:103", "common.SetKubeletFlags(",
			"webhook/TestMachineHandler", "machines.go", ""},
		{"the cloud is asked at every write", "pkg/admission/machinedeployments_validation.go:140",
			"md.Spec.Template.Spec.ProviderSpec.Value.Raw, err = json.Marshal(", "webhook/TestACloudThatDoesNotAnswerRefuses", "breaker.go", ""},
		{"and the providerSpec is stored as this webhook marshals it", "pkg/admission/machinedeployments_validation.go:140",
			"md.Spec.Template.Spec.ProviderSpec.Value.Raw, err = json.Marshal(", "webhook/TestTheProviderSpecIsStoredAsTheWebhookMarshalsIt",
			"", ""},
		{"its answers are kept for five minutes", "pkg/cloudprovider/cache/cloudprovidercache.go:36", "return &CloudproviderCache{",
			"webhook/TestAnAnswerOfTheCloudIsKeptForFiveMinutes", "", ""},
		{"kubelet version, operating system and ssh keys are checked", "pkg/admission/machines.go:162", "if !ad.constraints.Check(kubeletVer)",
			"", "", "a refused write is one, whatever the reason: that of the cloud stands for all"},
		{"any annotation has the bootstrap Secrets written again", "osm:pkg/controllers/osc/osc_controller.go:481",
			"if currentRevision == existingRevision && osp.Spec.Version", "osm/TestReconcile", "bootstrap.go", ""},
		{"so does the version of the profile", "osm:pkg/controllers/osc/osc_controller.go:481",
			"if currentRevision == existingRevision && osp.Spec.Version", "", "",
			"to us it is what a changed annotation is: Secrets that are written again from the flags of now"},
		{"they are away for a moment", "osm:pkg/controllers/osc/osc_controller.go:487", "if err := r.Delete(ctx, osc)", "", "",
			"a Secret that is not there is waited for, for however long: simtest draws Bootstraps.Slow"},
	}
}

func TestEveryFactIsShownOrLeftOutForAReason(t *testing.T) {
	for _, fact := range facts() {
		t.Run(fact.real, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(fact.source).To(MatchRegexp(`^(osm:)?(cmd|pkg)/[a-z/_-]+\.go:[0-9]+$`))
			g.Expect(fact.quote).NotTo(BeEmpty())
			g.Expect([]string{fact.shown, fact.without}).To(ConsistOf(BeEmpty(), Not(BeEmpty())))
			if fact.shown != "" {
				g.Expect(isTest(t, fact.shown)).To(BeTrue(), "there is no test %s", fact.shown)
			}
			if fact.model != "" {
				g.Expect(filepath.Join("..", "..", "..", "pkg", "simulation", fact.model)).To(BeARegularFile())
			}
		})
	}
}

// isTest finds PACKAGE/TEST.
func isTest(t *testing.T, name string) bool {
	t.Helper()
	dir, test, _ := strings.Cut(name, "/")
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	declared := regexp.MustCompile(`(?m)^func ` + test + `\(`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		if declared.Match(content) {
			return true
		}
	}
	return false
}
