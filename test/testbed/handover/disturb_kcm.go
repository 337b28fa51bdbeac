package handover

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/kubelet"
)

// survivors are pods whose processes outlive them.
type survivors struct {
	mu   sync.Mutex
	pods map[types.UID]bool
}

func newSurvivors() *survivors { return &survivors{pods: map[types.UID]bool{}} }

func (s *survivors) outlive(pod *corev1.Pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[pod.UID]
}

func (s *survivors) add(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[pod.UID] = true
}

func (s *survivors) remove(pod *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, pod.UID)
}

// kcmHolder is who holds KCM's Lease; empty when no one does.
func (p *Play) kcmHolder() string {
	p.witness.mu.Lock()
	defer p.witness.mu.Unlock()
	return p.witness.holders[kcmName]
}

// kcmLeader is the holder's pod.
func (p *Play) kcmLeader() string { return holder(p.kcmHolder()) }

// holder is the pod's name in the identity of a leader.
func holder(identity string) string {
	pod, _, _ := strings.Cut(identity, "_")
	return pod
}

// signal sends a signal to the processes of a pod.
func (p *Play) signal(cluster, pod string, signal syscall.Signal) error {
	if pod == "" {
		return fmt.Errorf("there is no pod to send %s to in cluster %s", signal, cluster)
	}
	entries, err := p.Processes(cluster, pod)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("pod %s of cluster %s has no process", pod, cluster)
	}
	p.witness.note(Disturbed, signal.String()+" to "+pod)
	for _, entry := range entries {
		// A process that ended a moment ago was to be disturbed, and is.
		_ = syscall.Kill(entry.PID, signal)
	}
	return nil
}

// killKCMLeader kills the process that holds KCM's Lease, or any KCM where the holder has ended.
func (p *Play) killKCMLeader() error {
	entries, err := p.Processes(bed.ManagementName, kcmName)
	if err != nil {
		return err
	}
	victim, leader := "", p.kcmLeader()
	for _, entry := range entries {
		if entry.Namespace == p.User.Namespace && (victim == "" || entry.Pod == leader) {
			victim = entry.Pod
		}
	}
	return p.signal(bed.ManagementName, victim, syscall.SIGKILL)
}

// killKCMLeaderAt kills it when a line of the table is current.
func killKCMLeaderAt(line string) func(context.Context, *Play) error {
	return func(ctx context.Context, p *Play) error {
		if err := p.AtLine(ctx, line); err != nil {
			return err
		}
		return p.killKCMLeader()
	}
}

// holdRollouts makes the controller of KCM's Deployment keep the old pods, whatever becomes of the new ones.
func (p *Play) holdRollouts(ctx context.Context, hold bool) error {
	return p.holdRolloutsOf(ctx, kcmName, hold)
}

// holdRolloutsOf is that for any Deployment of the control plane.
func (p *Play) holdRolloutsOf(ctx context.Context, component string, hold bool) error {
	seconds := 0
	if hold {
		seconds = 3600
	}
	patch := fmt.Appendf(nil, `{"spec":{"minReadySeconds":%d,"progressDeadlineSeconds":%d}}`, seconds, seconds+600)
	return p.patchComponent(ctx, component, types.MergePatchType, patch)
}

// kcmPods are those that are not being deleted: the one that leads, and the others. A leader has the name of its host, which is
// the Node's for a static pod.
func (p *Play) kcmPods(ctx context.Context) (leader *corev1.Pod, others []*corev1.Pod, err error) {
	pods, where := &corev1.PodList{}, p.Client
	namespace, having := p.User.Namespace, client.MatchingLabels{"app": kcmName}
	if p.Scenario.Setup.Topology == External {
		where, namespace, having = p.User.Client, metav1.NamespaceSystem, client.MatchingLabels{"component": kcmName}
	}
	if err := where.List(ctx, pods, client.InNamespace(namespace), having); err != nil {
		return nil, nil, err
	}
	holder := p.kcmLeader()
	for i := range pods.Items {
		switch pod := &pods.Items[i]; {
		case pod.DeletionTimestamp != nil:
		case pod.Name == holder, pod.Spec.HostNetwork && pod.Spec.NodeName == holder:
			leader = pod
		default:
			others = append(others, pod)
		}
	}
	return leader, others, nil
}

// deleteAtOnce is what kubectl delete --force does: no one asks the kubelet.
func (p *Play) deleteAtOnce(ctx context.Context, pod *corev1.Pod) error {
	p.witness.note(Disturbed, "force-deleting "+pod.Name)
	return p.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
}

// waitForProcesses waits until so many processes of pods with such names run in the management cluster.
func (p *Play) waitForProcesses(ctx context.Context, namespace, pod string, count int) error {
	return p.WaitFor(ctx, fmt.Sprintf("%d processes of %s", count, pod), patience, func(context.Context) (string, error) {
		entries, err := p.Processes(bed.ManagementName, pod)
		if err != nil {
			return "", err
		}
		entries = only(entries, func(entry kubelet.Entry) bool { return entry.Namespace == namespace })
		if len(entries) != count {
			return fmt.Sprintf("there are %d", len(entries)), nil
		}
		return "", nil
	})
}

// elapse waits for a span of time in which something must not happen, or which a disturbance lasts.
func (p *Play) elapse(ctx context.Context, span time.Duration) error {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.Done():
		return p.Err()
	case <-timer.C:
		return nil
	}
}
