package roll_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/csi"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	brokenPool  = "workers"
	volumeClass = "csi.simcloud.k8c.io"
)

// stopsHalfWay rolls three Machines; a canary comes first. The cloud does not answer what the CCM asks to initialize a
// Node.
func (h *rolls) stopsHalfWay(ctx context.Context, s *suite.Scene, u *bed.UserCluster) {
	s.Expect(u.Client.Create(ctx, bed.MachineDeployment(brokenPool, 3))).To(Succeed())
	h.NodesJoin(ctx, s, u, 4)
	// The cloud is away for longer than the objectives allow.
	h.Patch(ctx, s, u, `{"spec":{"rollout":{"canary":"Machine"},"slo":{"onViolation":"Continue"}}}`)
	seen, stop := h.watchMachines(ctx, u)
	defer stop()
	defer h.serveVolumes(ctx, u)()

	h.Flip(ctx, s, u)
	h.WaitForCluster(ctx, s, u, "a proven canary", func(cluster *ucv1.Cluster) string {
		if canary := cluster.Status.Canary; canary == nil || canary.ProvenAt == nil {
			ready := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.ReadyCondition)
			return fmt.Sprintf("step %s: %s", cluster.Status.Step, ready.Message)
		}
		return ""
	})
	s.Eventually(seen.canary).WithContext(ctx).WithTimeout(suite.Patience).WithPolling(suite.PollTime).
		Should(BeTrue(), "a load balancer reached the canary's Node")
	h.WaitForCluster(ctx, s, u, "the middle of the roll", func(*ucv1.Cluster) string {
		if rolled := seen.initialized(); rolled < 1 {
			return fmt.Sprintf("%d Machines are new", rolled)
		}
		return ""
	})
	h.Cloud.AddFault(simcloud.Fault{
		Cluster: u.Options.Name, Method: "InstanceMetadata", ErrorStatus: http.StatusInternalServerError,
	})
	h.expectTripped(ctx, s, u, seen)
	h.Cloud.ClearFaultsOf(u.Options.Name)
	s.Expect(u.WakeCCM(ctx)).To(Succeed())

	h.WaitForCluster(ctx, s, u, "the end of its migration", suite.IsTrue(ucv1.CSIKubeletMigrationCompletedCondition))
	h.expectGivenBack(ctx, s, u, brokenPool)
	s.Logf("at most %d Machines were unproven at once", seen.most())
	s.Expect(seen.most()).To(Equal(1), "maxSurge is 1, maxUnavailable 0")
}

func (h *rolls) expectTripped(ctx context.Context, s *suite.Scene, u *bed.UserCluster, seen *machineWatch) {
	GinkgoHelper()
	h.WaitForCluster(ctx, s, u, "the breaker to trip", func(cluster *ucv1.Cluster) string {
		stalled := meta.FindStatusCondition(cluster.Status.Conditions, ucv1.StalledCondition)
		if stalled == nil || stalled.Reason != ucv1.BreakerTrippedReason {
			return fmt.Sprintf("Stalled is %+v", stalled)
		}
		return ""
	})
	deployment := h.pool(ctx, s, u, brokenPool)
	s.Expect(deployment.Spec.Paused).To(BeFalse(), "no pause holds a roll")
	s.Expect(h.minReadyIsOurs(deployment)).To(BeTrue())
	made := seen.all()
	s.Consistently(seen.all).WithContext(ctx).WithTimeout(suite.HeldTime).WithPolling(suite.PollTime).
		Should(Equal(made), "Machines were made although none is proven")
}

func (h *rolls) pool(ctx context.Context, s *suite.Scene, u *bed.UserCluster, name string) *machines.MachineDeployment {
	GinkgoHelper()
	deployment := bed.MachineDeployment(name, 0)
	s.Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
	return deployment
}

// minReadyIsOurs says that it is endless, and that we own it.
func (h *rolls) minReadyIsOurs(deployment *machines.MachineDeployment) bool {
	endless := deployment.Spec.MinReadySeconds != nil && *deployment.Spec.MinReadySeconds == rollout.EndlessMinReadySeconds
	return endless && slices.ContainsFunc(deployment.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == ucv1.FieldManager && bytes.Contains(entry.FieldsV1.GetRawBytes(), []byte(`"f:minReadySeconds"`))
	})
}

func (h *rolls) expectGivenBack(ctx context.Context, s *suite.Scene, u *bed.UserCluster, pool string) {
	GinkgoHelper()
	deployment := h.pool(ctx, s, u, pool)
	s.Expect(deployment.Spec.MinReadySeconds == nil || *deployment.Spec.MinReadySeconds == 0).To(BeTrue())
	for _, object := range []client.Object{&corev1.Pod{}, &corev1.PersistentVolumeClaim{}, &machines.MachineDeployment{}} {
		err := u.Client.Get(ctx, client.ObjectKey{Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName}, object)
		s.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%T: %v", object, err)
	}
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

// watchMachines until it is stopped.
func (h *rolls) watchMachines(ctx context.Context, u *bed.UserCluster) (w *machineWatch, stop func()) {
	w = &machineWatch{made: map[string]bool{}}
	return w, inBackground(ctx, func(ctx context.Context) {
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
}

// serveVolumes those of a canary, until it is stopped.
func (h *rolls) serveVolumes(ctx context.Context, u *bed.UserCluster) (stop func()) {
	return inBackground(ctx, func(ctx context.Context) { _ = csi.ServeVolumes(ctx, u.Client, volumeClass) })
}

func inBackground(ctx context.Context, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	group := sync.WaitGroup{}
	group.Go(func() { run(ctx) })
	return func() { cancel(); group.Wait() }
}

// look counts the new Machines of the pool: those that are external.
func (w *machineWatch) look(ctx context.Context, u *bed.UserCluster, cloud simcloud.Snapshot) {
	list, nodes := &machines.MachineList{}, &corev1.NodeList{}
	if u.Client.List(ctx, nodes) != nil || u.Client.List(ctx, list, client.MatchingLabels{"pool": brokenPool}) != nil {
		return
	}
	tainted := map[string]bool{}
	for _, node := range nodes.Items {
		tainted[node.Name] = isUninitialized(node)
	}
	list.Items = external(list.Items)
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
		isCanary := func(host string) bool { return strings.HasPrefix(host, ucv1.CanaryName) }
		w.reached = w.reached || slices.ContainsFunc(balancer.Hosts, isCanary)
	}
}

func isUninitialized(node corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == machines.UninitializedTaint
	})
}

// external are the new Machines.
func external(all []machines.Machine) []machines.Machine {
	return slices.DeleteFunc(all, func(machine machines.Machine) bool {
		return machine.Annotations[ucv1.ExternalCloudProviderAnnotation] != "true"
	})
}
