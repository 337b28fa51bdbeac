package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	brokenPool  = "workers"
	volumeClass = "csi.simcloud.k8c.io"
	// guardTime is our minReadySeconds with the testbed's deadline of 15 s.
	guardTime = 45 * time.Second
)

// TestBreaker stops rolls in the middle: one because a Node is not initialized, one because the objectives are violated. The cloud does
// not answer what the CCM asks to initialize a Node.
func TestBreaker(t *testing.T) {
	h := startHandovers(t, "breaker", bed.UserClusterOptions{Name: "halfway"}, bed.UserClusterOptions{Name: "slow"})
	defer expectStopped(t, h.Bed, h.Stop)
	t.Run("rolls", func(t *testing.T) {
		t.Run("one in which the cloud stops to initialize Nodes half way", h.stopsHalfWay)
		t.Run("one in which the objectives are violated halts until a person looked", h.haltsWhenViolated)
	})
	expectNothingForbidden(t, h.Bed)
}

// stopsHalfWay rolls three Machines. A canary comes first.
func (h *handovers) stopsHalfWay(t *testing.T) {
	t.Parallel()
	g, u := NewWithT(t), h.clusters["halfway"]
	g.Expect(u.Client.Create(t.Context(), bed.MachineDeployment(brokenPool, 3))).To(Succeed())
	g.Expect(h.nodesJoin(t.Context(), u, 4)).To(Succeed())
	// The cloud is away for longer than the objectives allow.
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rollout":{"canary":"Machine"},"slo":{"onViolation":"Continue"}}}`))
	g.Expect(h.Client.Patch(t.Context(), u.NewCluster(false), patch)).To(Succeed())
	seen := h.watchMachines(t, u)

	h.flip(t, u)
	waitForCluster(t, h.Bed, u, "a proven canary", func(cluster *ucv1.Cluster) string {
		if canary := cluster.Status.Canary; canary == nil || canary.ProvenAt == nil {
			return fmt.Sprintf("step %s: %s", cluster.Status.Step, meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition).Message)
		}
		return ""
	})
	g.Eventually(seen.canary).WithTimeout(patience).WithPolling(pollTime).Should(BeTrue(), "a load balancer reached the canary's Node")
	waitForCluster(t, h.Bed, u, "the middle of the roll", func(*ucv1.Cluster) string {
		if rolled := seen.initialized(); rolled < 1 {
			return fmt.Sprintf("%d Machines are new", rolled)
		}
		return ""
	})
	h.Cloud.AddFault(simcloud.Fault{Cluster: u.Options.Name, Method: "InstanceMetadata", ErrorStatus: http.StatusInternalServerError})
	h.expectTripped(t, u, seen)
	h.Cloud.ClearFaultsOf(u.Options.Name)

	waitForCluster(t, h.Bed, u, "the end of its migration", isTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectGivenBack(t, u, brokenPool)
	t.Logf("at most %d Machines were unproven at once", seen.most())
	g.Expect(seen.most()).To(Equal(1), "maxSurge is 1, maxUnavailable 0")
}

func (h *handovers) expectTripped(t *testing.T, u *bed.UserCluster, seen *machineWatch) {
	t.Helper()
	g := NewWithT(t)
	waitForCluster(t, h.Bed, u, "the breaker to trip", func(cluster *ucv1.Cluster) string {
		stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition)
		if stalled == nil || stalled.Reason != ucv1.BreakerTrippedReason {
			return fmt.Sprintf("Stalled is %+v", stalled)
		}
		return ""
	})
	deployment := h.pool(t, u, brokenPool)
	g.Expect(deployment.Spec.Paused).To(BeTrue())
	g.Expect(h.breakersFields(deployment)).To(ConsistOf("f:minReadySeconds", "f:paused"))
	made := seen.all()
	g.Consistently(seen.all).WithTimeout(guardTime+15*time.Second).WithPolling(pollTime).Should(Equal(made), "Machines were made in spite of the pause")
}

func (h *handovers) pool(t *testing.T, u *bed.UserCluster, name string) *machines.MachineDeployment {
	t.Helper()
	deployment := bed.MachineDeployment(name, 0)
	NewWithT(t).Expect(u.Client.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
	return deployment
}

// breakersFields of the spec are those that the breaker owns.
func (h *handovers) breakersFields(deployment *machines.MachineDeployment) []string {
	var names []string
	for _, entry := range deployment.ManagedFields {
		fields := struct {
			Spec map[string]any `json:"f:spec"`
		}{}
		if entry.Manager == ucv1.BreakerFieldManager && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil {
			// "." says that it made the spec, too, had it not been there.
			delete(fields.Spec, ".")
			names = slices.AppendSeq(names, maps.Keys(fields.Spec))
		}
	}
	return names
}

func (h *handovers) expectGivenBack(t *testing.T, u *bed.UserCluster, pool string) {
	t.Helper()
	g := NewWithT(t)
	deployment := h.pool(t, u, pool)
	g.Expect(deployment.Spec.Paused).To(BeFalse())
	g.Expect(deployment.Spec.MinReadySeconds == nil || *deployment.Spec.MinReadySeconds == 0).To(BeTrue())
	g.Expect(h.breakersFields(deployment)).To(BeEmpty())
	for _, object := range []client.Object{&corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &machines.MachineDeployment{}} {
		err := u.Client.Get(t.Context(), client.ObjectKey{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName}, object)
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%T: %v", object, err)
	}
}

func (h *handovers) nodesJoin(ctx context.Context, u *bed.UserCluster, count int) error {
	return h.WaitFor(ctx, fmt.Sprintf("%d Nodes", count), patience, func(ctx context.Context) (string, error) {
		nodes := &corev1.NodeList{}
		if err := u.Client.List(ctx, nodes); err != nil || len(nodes.Items) == count {
			return "", err
		}
		return fmt.Sprintf("%d", len(nodes.Items)), nil
	})
}

// machineWatch looks at the user cluster a few times a second.
type machineWatch struct {
	mu                                sync.Mutex
	mostUnproven, unproven, initially int
	reached                           bool
	// made are the names of all new Machines.
	made map[string]bool
}

func (w *machineWatch) initialized() int { w.mu.Lock(); defer w.mu.Unlock(); return w.initially }
func (w *machineWatch) all() int         { w.mu.Lock(); defer w.mu.Unlock(); return len(w.made) }
func (w *machineWatch) most() int        { w.mu.Lock(); defer w.mu.Unlock(); return w.mostUnproven }
func (w *machineWatch) canary() bool     { w.mu.Lock(); defer w.mu.Unlock(); return w.reached }

// watchMachines also serves the volumes of the canary.
func (h *handovers) watchMachines(t *testing.T, u *bed.UserCluster) *machineWatch {
	t.Helper()
	w := &machineWatch{made: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	group := sync.WaitGroup{}
	group.Go(func() { _ = csi.ServeVolumes(ctx, u.Client, volumeClass) })
	group.Go(func() {
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				w.look(ctx, u, h.Cloud.Snapshot(u.Options.Name))
			}
		}
	})
	t.Cleanup(func() { cancel(); group.Wait() })
	return w
}

// look counts the new Machines of the pool: those that are external.
func (w *machineWatch) look(ctx context.Context, u *bed.UserCluster, cloud simcloud.Snapshot) {
	list, nodes := &machines.MachineList{}, &corev1.NodeList{}
	if u.Client.List(ctx, nodes) != nil || u.Client.List(ctx, list, client.MatchingLabels{"pool": brokenPool}) != nil {
		return
	}
	tainted := map[string]bool{}
	for _, node := range nodes.Items {
		tainted[node.Name] = slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == machines.UninitializedTaint })
	}
	list.Items = slices.DeleteFunc(list.Items, func(m machines.Machine) bool { return m.Annotations[ucv1.ExternalCloudProviderAnnotation] != "true" })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unproven, w.initially = 0, 0
	for _, machine := range list.Items {
		w.made[machine.Name] = true
		waits, joined := tainted[machine.Name]
		switch {
		case machine.DeletionTimestamp != nil:
		case !joined || waits:
			w.unproven++
		default:
			w.initially++
		}
	}
	w.mostUnproven = max(w.mostUnproven, w.unproven)
	for _, balancer := range cloud.LoadBalancers {
		w.reached = w.reached || slices.ContainsFunc(balancer.Hosts, func(host string) bool { return strings.HasPrefix(host, ucv1.CanaryName) })
	}
}
