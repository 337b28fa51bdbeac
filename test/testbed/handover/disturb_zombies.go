package handover

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

// holdRolloutsBefore is for those who want the old pods to be there when they act.
func holdRolloutsBefore(ctx context.Context, p *Play) error { return p.holdRollouts(ctx, true) }

// frozenLeader stops KCM's leader (SIGSTOP) as its pod is about to be deleted: it is late, and holds its Lease.
func frozenLeader(ctx context.Context, p *Play) error {
	if err := p.AtLine(ctx, "Silent"); err != nil {
		return err
	}
	leader := p.kcmLeader()
	if err := p.signal(bed.ManagementName, leader, syscall.SIGSTOP); err != nil {
		return err
	}
	if err := p.holdRollouts(ctx, false); err != nil {
		return err
	}
	return p.WaitFor(ctx, "the frozen process to end", patience, func(context.Context) (string, error) {
		entries, err := p.Processes(bed.ManagementName, leader)
		if err != nil || len(entries) == 0 {
			return "", err
		}
		if p.opened() {
			return "", errors.New("the fence was opened while the frozen leader was there")
		}
		return leader + " is there", nil
	})
}

func (p *Play) opened() bool {
	p.witness.mu.Lock()
	defer p.witness.mu.Unlock()
	return p.witness.open
}

// stuckPod puts a finalizer on the leader's pod: its object stays Terminating when its process has ended.
func stuckPod(ctx context.Context, p *Play) error {
	leader, _, err := p.kcmPods(ctx)
	if err != nil || leader == nil {
		return errors.Join(err, p.missing(leader))
	}
	p.witness.note(Disturbed, "putting a finalizer on "+leader.Name)
	p.atEnd(func(ctx context.Context) error { return p.setFinalizers(ctx, leader.Name, "null") })
	return p.setFinalizers(ctx, leader.Name, `["testbed.k8c.io/late"]`)
}

func (p *Play) missing(pod *corev1.Pod) error {
	if pod == nil {
		return fmt.Errorf("no KCM pod of %s leads", p.Scenario.Name)
	}
	return nil
}

func (p *Play) setFinalizers(ctx context.Context, pod, finalizers string) error {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.User.Namespace, Name: pod}}
	patch := fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, finalizers)
	return client.IgnoreNotFound(p.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)))
}

// secondNode is a Node of the management cluster for this scenario only.
func (p *Play) secondNode() string { return "management-" + p.Scenario.Name }

// standbyApart moves KCM's standby to a Node of its own, and keeps the old pods.
func standbyApart(ctx context.Context, p *Play) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   p.secondNode(),
			Labels: map[string]string{corev1.LabelHostname: p.secondNode(), corev1.LabelOSStable: "linux"},
		},
		Spec: corev1.NodeSpec{Unschedulable: true},
	}
	if err := p.Client.Create(ctx, node); err != nil {
		return err
	}
	_, others, err := p.kcmPods(ctx)
	if err != nil || len(others) == 0 {
		return errors.Join(err, fmt.Errorf("KCM of %s has %d standbys", p.Scenario.Name, len(others)))
	}
	if err := p.cordon(ctx, true); err != nil {
		return err
	}
	moved := p.moveTo(ctx, others[0])
	return errors.Join(moved, p.cordon(ctx, false), p.holdRollouts(ctx, true))
}

func (p *Play) moveTo(ctx context.Context, old *corev1.Pod) error {
	if err := p.Client.Delete(ctx, old); err != nil {
		return err
	}
	err := p.WaitFor(ctx, "a standby without a Node", patience, func(ctx context.Context) (string, error) {
		_, others, err := p.kcmPods(ctx)
		if err != nil {
			return "", err
		}
		for _, pod := range others {
			if pod.Spec.NodeName == "" {
				binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: p.secondNode()}}
				return "", p.Client.SubResource("binding").Create(ctx, pod, binding)
			}
		}
		return "there is none", nil
	})
	if err != nil {
		return err
	}
	return p.WaitForDeployment(p.User.Namespace, kcmName)
}

// cordon keeps new pods from the usual Node; those of other scenarios wait for a moment.
func (p *Play) cordon(ctx context.Context, on bool) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on))
	return p.Client.Patch(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: bed.ManagementNodeName}}, patch)
}

// zombieStandby force-deletes the standby's pod on a Node that is cut off: its process goes on with the loops on, and
// no one sees it. Then KCM's leaders are killed until it leads.
func zombieStandby(ctx context.Context, p *Play) error {
	if err := p.AtLine(ctx, "Silent"); err != nil {
		return err
	}
	zombie, err := p.makeZombie(ctx)
	if err != nil {
		return err
	}
	for p.kcmLeader() != zombie {
		identity := p.kcmHolder()
		leader := holder(identity)
		if entries, err := p.Processes(bed.ManagementName, leader); err == nil && leader != "" && len(entries) > 0 {
			if err := p.signal(bed.ManagementName, leader, syscall.SIGKILL); err != nil {
				return err
			}
		}
		err := p.witness.until(ctx, "another KCM to lead", patience, func(w *witness) bool { return w.holders[kcmName] != identity })
		if err != nil {
			return err
		}
	}
	p.witness.note(Disturbed, "the zombie leads")
	return p.Stays(ctx, 10*time.Second)
}

func (p *Play) makeZombie(ctx context.Context) (string, error) {
	_, others, err := p.kcmPods(ctx)
	if err != nil {
		return "", err
	}
	for _, pod := range others {
		if pod.Spec.NodeName != p.secondNode() {
			continue
		}
		management := p.Kubelet(bed.ManagementName)
		management.SetNodeSilent(p.secondNode(), true)
		p.survivors.add(pod)
		p.atEnd(func(context.Context) error {
			p.survivors.remove(pod)
			management.SetNodeSilent(p.secondNode(), false)
			return nil
		})
		if err := p.deleteAtOnce(ctx, pod); err != nil {
			return "", err
		}
		if err := p.holdRollouts(ctx, false); err != nil {
			return "", err
		}
		return pod.Name, p.WaitForDeployment(p.User.Namespace, kcmName)
	}
	return "", fmt.Errorf("no KCM pod of %s is on Node %s", p.Scenario.Name, p.secondNode())
}

// endZombie brings the Node's kubelet back, which ends the process.
func endZombie(ctx context.Context, p *Play) error { return p.clean(ctx) }
