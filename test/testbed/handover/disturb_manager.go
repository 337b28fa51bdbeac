package handover

import (
	"context"
	"fmt"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	managerNamespace = "ccm-migration-system"
	managerName      = "ccm-migration-controller-manager"
	managerLease     = "ccm-migration-controller"
)

// killManager kills its process and takes pod and Lease away, so that the next one neither waits in a back-off nor for the
// Lease of a process that has ended.
func (p *Play) killManager(ctx context.Context) error {
	p.witness.note(Disturbed, "killing the manager")
	entries, err := p.Processes(bed.ManagementName, managerName)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		_ = syscall.Kill(entry.PID, syscall.SIGKILL)
	}
	for _, entry := range entries {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: entry.Pod}}
		if err := client.IgnoreNotFound(p.Client.Delete(ctx, pod, client.GracePeriodSeconds(0))); err != nil {
			return err
		}
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: managerLease}}
	return client.IgnoreNotFound(p.Client.Delete(ctx, lease))
}

// killManagerAtEveryLine kills it as soon as a line of the table is current for the first time.
func killManagerAtEveryLine(ctx context.Context, p *Play) error {
	killed := map[string]bool{}
	for {
		line, finished := "", false
		err := p.witness.until(ctx, "the next line", patience, func(w *witness) bool {
			handover := w.seen[len(w.seen)-1].Handover
			if handover == nil {
				return false
			}
			line, finished = handover.Stage, handover.FinishedAt != nil
			return finished || line != "" && !killed[line]
		})
		if err != nil || finished {
			return err
		}
		killed[line] = true
		if err := p.killManager(ctx); err != nil {
			return err
		}
	}
}

// scaleManager waits until there is such a number of processes.
func (p *Play) scaleManager(ctx context.Context, replicas int) error {
	p.witness.note(Disturbed, fmt.Sprintf("scaling the manager to %d", replicas))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: managerName}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	if err := p.Client.Patch(ctx, deployment, patch); err != nil {
		return err
	}
	if err := p.waitForProcesses(ctx, managerNamespace, managerName, replicas); err != nil {
		return err
	}
	return p.WaitForDeployment(managerNamespace, managerName)
}

// withoutManager takes the manager away when the loops are off in KCM's Deployment and no old pod has ended yet, so that
// they all end unseen, and brings it back when others have done what they do.
func withoutManager(others func(context.Context, *Play) error) func(context.Context, *Play) error {
	return func(ctx context.Context, p *Play) error {
		if err := p.AtLine(ctx, "Silent"); err != nil {
			return err
		}
		// The next scenario needs it, too.
		p.atEnd(func(ctx context.Context) error { return p.scaleManager(ctx, 1) })
		for _, do := range []func() error{
			func() error { return p.scaleManager(ctx, 0) },
			func() error { return p.holdRollouts(ctx, false) },
			func() error { return p.WaitForDeployment(p.User.Namespace, kcmName) },
			func() error { return others(ctx, p) },
			func() error { return p.scaleManager(ctx, 1) },
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}
}

// longerThanAnyLease passes while the fence has to stay closed.
func longerThanAnyLease(ctx context.Context, p *Play) error {
	return p.Stays(ctx, 2*max(p.Scenario.Setup.Lease, usualLease)+time.Second)
}

// killNode has a Node die when no one runs the loop that would delete it.
func killNode(ctx context.Context, p *Play) error { return p.load.kill(ctx, "late-victim") }

// deleteDeadNode is what the condition asks a person to do: the fence is not opened beside a Node that is not Ready.
func deleteDeadNode(ctx context.Context, p *Play) error {
	err := p.witness.until(ctx, "the Node to be named", patience, func(w *witness) bool {
		return reasonOf(&w.seen[len(w.seen)-1], ucv1.HandoverCompletedCondition) == ucv1.NodesNotReadyReason
	})
	if err != nil {
		return err
	}
	if err := p.Stays(ctx, 5*time.Second); err != nil {
		return err
	}
	return p.load.do(
		ctx,
		NodeRemoved,
		"late-victim",
		func(ctx context.Context) error { return p.User.RemoveNode(ctx, "late-victim") },
	)
}

// inOrder plays one after the other.
func inOrder(acts ...func(context.Context, *Play) error) func(context.Context, *Play) error {
	return func(ctx context.Context, p *Play) error {
		for _, act := range acts {
			if err := act(ctx, p); err != nil {
				return err
			}
		}
		return nil
	}
}
