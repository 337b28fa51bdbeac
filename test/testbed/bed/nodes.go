package bed

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/cloud"
)

func (u *UserCluster) cloud() (*cloud.Client, error) {
	config, err := cloud.ParseConfig(u.CloudConf())
	if err != nil {
		return nil, err
	}
	return cloud.New(config, "testbed"), nil
}

// kubeletVersion is the one that the cluster began with: preflight refuses kubelets that are newer than their API server.
func (u *UserCluster) kubeletVersion() string { return "v" + u.Options.Version }

// AddNode makes an instance and the Node that its in-tree kubelet registers. It may be called again after an error.
func (u *UserCluster) AddNode(ctx context.Context, name string, unschedulable bool) error {
	instances, err := u.cloud()
	if err != nil {
		return err
	}
	instance, err := instances.Create(ctx, cloud.Instance{Name: name})
	if err != nil {
		return err
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname:       name,
			corev1.LabelOSStable:       "linux",
			corev1.LabelTopologyZone:   instance.Zone,
			corev1.LabelTopologyRegion: instance.Region,
		}},
		Spec: corev1.NodeSpec{ProviderID: instance.ProviderID, Unschedulable: unschedulable},
	}
	node.Status.NodeInfo.KubeletVersion = u.kubeletVersion()
	// Without addresses the CCM would add them, and the API refuses the status of a pod whose host changes its address.
	for _, address := range instance.Addresses {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address})
	}
	return client.IgnoreAlreadyExists(u.Client.Create(ctx, node))
}

// RemoveNode takes a Node away as a machine-controller does: the instance, then the Node.
func (u *UserCluster) RemoveNode(ctx context.Context, name string) error {
	instances, err := u.cloud()
	if err != nil {
		return err
	}
	if err := instances.Delete(ctx, name); err != nil {
		return err
	}
	return client.IgnoreNotFound(u.Client.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}))
}

// KillNode deletes the instance behind a Node that becomes silent. The Node stays: to delete it is the work of the
// cloud-node-lifecycle loop.
func (u *UserCluster) KillNode(ctx context.Context, name string) error {
	if err := u.SilenceNode(ctx, name); err != nil {
		return err
	}
	instances, err := u.cloud()
	if err != nil {
		return err
	}
	return instances.Delete(ctx, name)
}

// kubelet is that of all Nodes, until the cluster is removed.
func (u *UserCluster) kubelet() (*kubelet.Kubelet, error) {
	if kubelet := u.bed.Kubelet(u.Options.Name); kubelet != nil {
		return kubelet, nil
	}
	return nil, errors.New("the user cluster has no kubelet any more")
}

// SilenceNode has a Node's kubelet say once that it ends, and nothing more.
func (u *UserCluster) SilenceNode(ctx context.Context, name string) error {
	kubelet, err := u.kubelet()
	if err != nil {
		return err
	}
	kubelet.SetNodeSilent(name, true)
	// Others write the status meanwhile: a beat of the kubelet that was on its way, and KCM's or the CCM's loops.
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return u.sayNotReady(ctx, name) }); err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	return nil
}

// WakeCCM changes each Node, as the runbook BreakerTripped says: the CCM retries a failed Node after longer and longer waits, and
// at once when it changes. The wait doubles up to 1000 s: workqueue.DefaultTypedControllerRateLimiter, used by
// https://github.com/kubernetes/cloud-provider/blob/v0.36.4/controllers/node/node_controller.go#L150 and #L235.
func (u *UserCluster) WakeCCM(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	if err := u.Client.List(ctx, nodes); err != nil {
		return err
	}
	annotation := fmt.Appendf(nil, `{"metadata":{"annotations":{"retry":%q}}}`, time.Now().Format(time.RFC3339Nano))
	patch := client.RawPatch(types.MergePatchType, annotation)
	for i := range nodes.Items {
		if err := u.Client.Patch(ctx, &nodes.Items[i], patch); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func (u *UserCluster) sayNotReady(ctx context.Context, name string) error {
	node := &corev1.Node{}
	if err := u.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	for i := range node.Status.Conditions {
		if condition := &node.Status.Conditions[i]; condition.Type == corev1.NodeReady {
			condition.Status, condition.Reason, condition.Message = corev1.ConditionFalse, "KubeletNotReady", "node is shutting down"
		}
	}
	return u.Client.Status().Update(ctx, node)
}
