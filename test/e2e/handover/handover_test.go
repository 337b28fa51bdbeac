package e2e_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

const (
	ccmName  = "cloud-controller-manager"
	pollTime = 500 * time.Millisecond
)

// handovers is one testbed with a user cluster for each difficulty.
type handovers struct {
	*bed.Bed
	survivors *survivors

	mu       sync.Mutex
	clusters map[string]*bed.UserCluster
}

// TestHandover makes hand-overs difficult. The outage comes first: it would hide what the others are about.
func TestHandover(t *testing.T) {
	h := startHandovers(t, "handover", bed.UserClusterOptions{Name: "outage"}, bed.UserClusterOptions{Name: "leader"}, bed.UserClusterOptions{Name: "standby"})
	defer expectStopped(t, h.Bed, h.Stop)
	verdicts := watchClusters(t, h.Bed)

	t.Run("while the manager is away nothing runs", h.outage)
	t.Run("then", func(t *testing.T) {
		t.Run("the hand-over goes on after the outage", h.afterOutage)
		t.Run("the proof never passes while a leader outlives its pod", h.leaderOutlives)
		t.Run("the proof never passes while a standby outlives its pod on a Node that is cut off", h.standbyOutlives)
	})
	expectNothingRanTwice(t, h.Bed)
	expectNothingForbidden(t, h.Bed)
	verdicts.expectGood(t)
}

func startHandovers(t *testing.T, name string, clusters ...bed.UserClusterOptions) *handovers {
	t.Helper()
	options, _ := bedOptions(t, name)
	return startWith(t, options, clusters...)
}

func startWith(t *testing.T, options bed.Options, clusters ...bed.UserClusterOptions) *handovers {
	t.Helper()
	g := NewWithT(t)
	h := &handovers{survivors: &survivors{pods: map[types.UID]bool{}}, clusters: map[string]*bed.UserCluster{}}
	options.OutliveForceDelete = h.survivors.outlive
	var err error
	h.Bed, err = bed.Start(t.Context(), options)
	g.Expect(err).NotTo(HaveOccurred())
	if err := h.populate(t.Context(), clusters); err != nil {
		h.Stop()
		t.Fatal(err)
	}
	return h
}

// populate installs the manager and starts the user clusters side by side: most of that is waiting.
func (h *handovers) populate(ctx context.Context, clusters []bed.UserClusterOptions) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(h.InstallManager)
	for _, options := range clusters {
		group.Go(func() error {
			u, err := h.AddUserCluster(options)
			if err != nil {
				return err
			}
			h.mu.Lock()
			h.clusters[options.Name] = u
			h.mu.Unlock()
			return h.furnish(groupCtx, u)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, u := range h.clusters {
		if err := h.Client.Create(ctx, u.NewCluster(false)); err != nil {
			return err
		}
	}
	return nil
}

// furnish gives a cluster a Node for the CCM and a Service for its service loop.
func (h *handovers) furnish(ctx context.Context, u *bed.UserCluster) error {
	for _, object := range []client.Object{bed.MachineDeployment("pool", 1), bed.LoadBalancer("web")} {
		if err := u.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	return h.waitForLoadBalancer(ctx, u)
}

func (h *handovers) waitForLoadBalancer(ctx context.Context, u *bed.UserCluster) error {
	return h.WaitFor(ctx, "user cluster "+u.Options.Name+": load balancer and Node", patience, func(ctx context.Context) (string, error) {
		service, nodes := &corev1.Service{}, &corev1.NodeList{}
		if err := u.Client.Get(ctx, client.ObjectKeyFromObject(bed.LoadBalancer("web")), service); err != nil {
			return "", err
		}
		if err := u.Client.List(ctx, nodes); err != nil {
			return "", err
		}
		if len(service.Status.LoadBalancer.Ingress) == 0 || len(nodes.Items) == 0 {
			return "there is no address or no Node yet", nil
		}
		return "", nil
	})
}

// flip sets the feature and expects the webhook's annotations in the very answer, also when it is only tried.
func (h *handovers) flip(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	for _, options := range [][]client.PatchOption{{client.DryRunAll}, nil} {
		cluster, err := flip(t.Context(), h.Client, u, options...)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cluster.Annotations).To(And(
			HaveKeyWithValue(ucv1.CCMMigrationNeededAnnotation, ""), HaveKeyWithValue(ucv1.CSIMigrationNeededAnnotation, "")))
	}
}

// recorded waits until the controller has recorded the processes and switched the loops off.
func (h *handovers) recorded(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	waitForCluster(t, h.Bed, u, "its KCM's arguments to be changed", func(cluster *ucv1.Cluster) string {
		if handover := cluster.Status.Handover; cluster.Status.Step == ucv1.StepHandover && handover != nil && handover.Line == "Silent" {
			return ""
		}
		return "step " + string(cluster.Status.Step)
	})
}

// outage takes the manager away when the loops are off in KCM's Deployment and no old pod has ended yet: they all end
// unseen.
func (h *handovers) outage(t *testing.T) {
	g, u := NewWithT(t), h.clusters["outage"]
	holdRollouts(t, h.Bed, u, true)
	h.flip(t, u)
	h.recorded(t, u)
	h.scaleManager(t, 0)
	holdRollouts(t, h.Bed, u, false)
	g.Expect(h.WaitForDeployment(u.Namespace, kcmName)).To(Succeed())

	g.Consistently(func(g Gomega) {
		g.Expect(h.Err()).NotTo(HaveOccurred())
		g.Expect(h.fenceIsClosed(t.Context(), u)).To(Succeed())
	}).WithTimeout(2 * leaseDuration).WithPolling(pollTime).Should(Succeed())
	h.expectSilentCCM(t, u)
	h.scaleManager(t, 1)
}

func (h *handovers) afterOutage(t *testing.T) {
	t.Parallel()
	u := h.clusters["outage"]
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)
}

// leaderOutlives: the pod of KCM's leader is deleted by force and its process goes on, holding the Lease and running
// the loops. Its Node's kubelet is well, which is evidence for the end of the process; the Lease contradicts it.
func (h *handovers) leaderOutlives(t *testing.T) {
	t.Parallel()
	g, u := NewWithT(t), h.clusters["leader"]
	leader := leaderPod(t, h.Bed, u)
	holdRollouts(t, h.Bed, u, true)
	h.flip(t, u)
	h.recorded(t, u)
	h.survivors.set(leader, true)
	deleteAtOnce(t, h.Bed, leader)
	holdRollouts(t, h.Bed, u, false)
	g.Expect(h.WaitForDeployment(u.Namespace, kcmName)).To(Succeed())

	vouched := time.Time{}
	err := h.provingUntil(t.Context(), u, leader.Name, func(process ucv1.ManagerProcess) (bool, error) {
		if process.EndedAt != nil && vouched.IsZero() {
			vouched = time.Now()
			t.Logf("for the kubelet it has ended: %s", process.EndedBecause)
		}
		return !vouched.IsZero() && time.Since(vouched) > 3*leaseDuration, nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	h.expectSilentCCM(t, u)
	g.Expect(h.processesOf(t, bed.ManagementName, leader.Name)).To(HaveLen(1), "the process that outlives its pod")

	h.survivors.set(leader, false)
	waitForCluster(t, h.Bed, u, "the end of its hand-over", isTrue(ucv1.HandoverCompletedCondition))
	h.expectLeadingCCM(t, u)
}

// provingUntil asks done with the record of the pod as often as the condition says that its process stands in the way. It
// fails when the hand-over went on, or said anything else than that it cannot look or repairs what comes before it.
func (h *handovers) provingUntil(ctx context.Context, u *bed.UserCluster, pod string, done func(ucv1.ManagerProcess) (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, pollTime, patience, true, func(ctx context.Context) (bool, error) {
		if err := h.fenceIsClosed(ctx, u); err != nil {
			return false, err
		}
		cluster, err := u.Get(ctx)
		if err != nil {
			return false, err
		}
		proof := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.HandoverCompletedCondition)
		if proof.Status == metav1.ConditionUnknown || proof.Reason == ucv1.WaitingForEarlierStepReason {
			return false, h.Err() // Busy machines miss deadlines.
		}
		if cluster.Status.Step != ucv1.StepHandover || proof.Status != metav1.ConditionFalse ||
			proof.Reason != ucv1.ProvingSilenceReason || !strings.Contains(proof.Message, pod) {
			return false, fmt.Errorf("step %s, HandoverCompleted %s, %s: %s", cluster.Status.Step, proof.Status, proof.Reason, proof.Message)
		}
		at := slices.IndexFunc(cluster.Status.Handover.Processes, func(process ucv1.ManagerProcess) bool { return process.PodName == pod })
		if at < 0 {
			return false, fmt.Errorf("pod %s is not recorded", pod)
		}
		return done(cluster.Status.Handover.Processes[at])
	})
}

// fenceIsClosed: the Role that opens the fence does not exist, and the controller does not think that it opened it.
func (h *handovers) fenceIsClosed(ctx context.Context, u *bed.UserCluster) error {
	for _, object := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		err := u.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "ccm-migration:" + ccmName + "-lease"}, object)
		if err == nil {
			return fmt.Errorf("the fence of %s was opened: %T exists", u.Options.Name, object)
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	cluster, err := u.Get(ctx)
	if err != nil {
		return err
	}
	if opened := cluster.Status.Handover.FenceOpenedAt; opened != nil {
		return fmt.Errorf("the fence of %s was opened at %s", u.Options.Name, opened)
	}
	return nil
}

// expectSilentCCM: it is there and waits behind the fence.
func (h *handovers) expectSilentCCM(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(h.processesOf(t, u.Options.Name, ccmName)).NotTo(BeEmpty(), "processes of the CCM")
	g.Expect(h.loopsOfCCM(t, u)).To(BeEmpty())
	calls, _ := records(t, h.Bed)
	for _, call := range loops.OfCluster(calls, u.Options.Name) {
		g.Expect(call.Component).NotTo(Equal(ccmName), "%+v", call)
	}
}

func (h *handovers) expectLeadingCCM(t *testing.T, u *bed.UserCluster) {
	t.Helper()
	g := NewWithT(t)
	g.Eventually(func() map[string]bool { return h.loopsOfCCM(t, u) }).WithTimeout(patience).WithPolling(pollTime).
		Should(And(HaveKey("service"), HaveKey("route"), HaveKey("cloud-node-lifecycle")))
	cluster, err := u.Get(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	for _, process := range cluster.Status.Handover.Processes {
		t.Logf("%s: %s", process.PodName, process.EndedBecause)
	}
	_, samples := records(t, h.Bed)
	gaps := loops.Gaps(loops.OfCluster(samples, u.Options.Name), time.Time{}, time.Time{})
	for _, loop := range loops.CloudLoops() {
		t.Logf("gap of %s: %.1f s", loop, gaps[loop].Seconds())
	}
}

// loopsOfCCM are the loops that the sampler ever saw in the cluster's CCM.
func (h *handovers) loopsOfCCM(t *testing.T, u *bed.UserCluster) map[string]bool {
	t.Helper()
	_, samples := records(t, h.Bed)
	running := map[string]bool{}
	for _, sample := range loops.OfCluster(samples, u.Options.Name) {
		if sample.Component == ccmName && sample.Running {
			running[sample.Loop] = true
		}
	}
	return running
}

// processesOf are the entries of a cluster's registry whose pods' names begin so.
func (h *handovers) processesOf(t *testing.T, cluster, pod string) []string {
	t.Helper()
	entries, err := filepath.Glob(h.File("processes", cluster, pod+"*.json"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return entries
}

// scaleManager waits until there is such a number of processes, and the webhook can be asked.
func (h *handovers) scaleManager(t *testing.T, replicas int) {
	t.Helper()
	g := NewWithT(t)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: managerName}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	g.Expect(h.Client.Patch(t.Context(), deployment, patch)).To(Succeed())
	g.Eventually(func() []string { return h.processesOf(t, bed.ManagementName, managerName) }).
		WithTimeout(patience).WithPolling(pollTime).Should(HaveLen(replicas))
	g.Expect(h.WaitForDeployment(managerNamespace, managerName)).To(Succeed())
}
