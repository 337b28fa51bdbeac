package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
)

const (
	heartbeatInterval = 5 * time.Second
	// reportInterval is after how long an unchanged status is written again: nodeStatusReportFrequency. Kubelets from 1.34 on
	// wait 2.5 to 7.5 minutes after a change, and then 5.
	// https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/kubelet_node_status.go#L540
	reportInterval = 5 * time.Minute
	leaseSeconds   = 40
	// defaultVersion is reported by a Node that was created without one.
	defaultVersion = "v1.30.14"
)

// heart keeps the Nodes of one cluster alive.
type heart struct {
	kubelet *Kubelet
	wakeup  chan struct{}
	// nodes is touched only by run.
	nodes map[types.UID]*nodeLife
}

// nodeLife is what the kubelet of one Node knows about itself.
type nodeLife struct {
	bootID string
	lease  *coordinationv1.Lease
}

func newHeart(k *Kubelet) *heart {
	return &heart{kubelet: k, wakeup: make(chan struct{}, 1), nodes: map[types.UID]*nodeLife{}}
}

// wake makes new Nodes be looked at without waiting for the next beat.
func (h *heart) wake() { poke(h.wakeup) }

func (h *heart) run(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.beat(ctx, false)
		case <-h.wakeup:
			h.beat(ctx, true)
		}
	}
}

// beat renews all Nodes, or only those never seen.
func (h *heart) beat(ctx context.Context, onlyNew bool) {
	nodes, err := h.kubelet.nodes.List(labels.Everything())
	if err != nil {
		return
	}
	present := map[types.UID]bool{}
	for _, node := range nodes {
		present[node.UID] = true
		if h.nodes[node.UID] != nil && onlyNew {
			continue
		}
		if err := h.renew(ctx, node); err != nil && ctx.Err() == nil {
			h.kubelet.options.Log.Error(err, "node will be retried", "cluster", h.kubelet.options.Cluster, "node", node.Name)
		}
	}
	for uid := range h.nodes {
		if !present[uid] {
			delete(h.nodes, uid)
		}
	}
}

func (h *heart) renew(ctx context.Context, node *corev1.Node) error {
	if node.Labels[ModeLabel] == ModeNone || h.kubelet.isSilent(node.Name) {
		return nil
	}
	life := h.nodes[node.UID]
	if life == nil {
		// A Node that was deleted and made again is another machine.
		life = &nodeLife{bootID: string(uuid.NewUUID())}
		h.nodes[node.UID] = life
	}
	status := desiredNodeStatus(node, life.bootID, metav1.Now())
	if !equality.Semantic.DeepEqual(status, node.Status) {
		if err := h.patchStatus(ctx, node, status); err != nil {
			return err
		}
	}
	return h.renewLease(ctx, node, life)
}

func (h *heart) patchStatus(ctx context.Context, node *corev1.Node, status corev1.NodeStatus) error {
	// Only what the kubelet owns: a whole status would revert what others wrote since.
	own := slices.DeleteFunc(slices.Clone(status.Conditions), func(c corev1.NodeCondition) bool {
		return c.Type != corev1.NodeReady && !slices.Contains(pressures(), c.Type)
	})
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": node.UID},
		"status": map[string]any{
			"capacity": status.Capacity, "allocatable": status.Allocatable,
			"nodeInfo": status.NodeInfo, "conditions": own,
		},
	})
	if err != nil {
		return fmt.Errorf("encode status of node %s: %w", node.Name, err)
	}
	_, err = h.kubelet.client.CoreV1().Nodes().
		Patch(ctx, node.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("patch status of node %s: %w", node.Name, err)
	}
	return nil
}

func (h *heart) renewLease(ctx context.Context, node *corev1.Node, life *nodeLife) error {
	leases := h.kubelet.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := life.lease, error(nil)
	if lease == nil {
		lease, err = leases.Get(ctx, node.Name, metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		life.lease, err = leases.Create(ctx, newLease(node), metav1.CreateOptions{})
	} else if err == nil {
		lease = lease.DeepCopy()
		lease.OwnerReferences, lease.Spec = newLease(node).OwnerReferences, newLease(node).Spec
		life.lease, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil {
		// Someone else changed or deleted it: read it again next time.
		life.lease = nil
		return fmt.Errorf("renew lease of node %s: %w", node.Name, err)
	}
	return nil
}

func newLease(node *corev1.Node) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       new(node.Name),
			LeaseDurationSeconds: ptr.To[int32](leaseSeconds),
			RenewTime:            new(metav1.NowMicro()),
		},
	}
}

// desiredNodeStatus is the Node's status as its kubelet wants it; it equals the
// present one when there is nothing to write.
func desiredNodeStatus(node *corev1.Node, bootID string, now metav1.Time) corev1.NodeStatus {
	status := *node.Status.DeepCopy()
	size := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	status.Capacity, status.Allocatable = withDefaults(status.Capacity, size), withDefaults(status.Allocatable, size)

	info := &status.NodeInfo
	info.BootID = bootID
	for field, value := range map[*string]string{
		&info.MachineID: string(node.UID), &info.SystemUUID: string(node.UID),
		&info.KernelVersion: "6.1.0", &info.OSImage: "Testbed Linux", &info.ContainerRuntimeVersion: "testbed://1.0.0",
		&info.KubeletVersion:  defaultVersion,
		&info.OperatingSystem: "linux", &info.Architecture: runtime.GOARCH,
	} {
		if *field == "" {
			*field = value
		}
	}
	for _, kind := range pressures() {
		setNodeCondition(&status, corev1.NodeCondition{
			Type:    kind,
			Status:  corev1.ConditionFalse,
			Reason:  "KubeletHasSufficientResources",
			Message: "kubelet has sufficient resources",
		}, now)
	}
	setNodeCondition(&status, corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
	}, now)
	return status
}

// pressures are the conditions that a healthy Node denies.
func pressures() []corev1.NodeConditionType {
	return []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}
}

func withDefaults(have, defaults corev1.ResourceList) corev1.ResourceList {
	merged := defaults.DeepCopy()
	maps.Copy(merged, have)
	return merged
}

func setNodeCondition(status *corev1.NodeStatus, wanted corev1.NodeCondition, now metav1.Time) {
	wanted.LastHeartbeatTime, wanted.LastTransitionTime = now, now
	for i := range status.Conditions {
		have := &status.Conditions[i]
		if have.Type != wanted.Type {
			continue
		}
		if have.Status != wanted.Status || have.Reason != wanted.Reason {
			*have = wanted
		} else if now.Sub(have.LastHeartbeatTime.Time) >= reportInterval {
			have.LastHeartbeatTime = now
		}
		return
	}
	status.Conditions = append(status.Conditions, wanted)
}

// hostIP is the address of a Node.
func (k *Kubelet) hostIP(name string) string {
	if node, err := k.nodes.Get(name); err == nil {
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				return address.Address
			}
		}
	}
	return k.addresses.host()
}
