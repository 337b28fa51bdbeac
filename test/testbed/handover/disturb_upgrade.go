package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
)

const (
	apiServerName = "kube-apiserver"
	schedulerName = "kube-scheduler"

	acrossMinors    = ucv1.LeaderMigrationMode("AcrossMinors")
	upgradeRequired = "UpgradeRequired"
)

// newMinor is the one that the control plane is upgraded to.
func newMinor() string { return bed.KubernetesVersion[:strings.LastIndex(bed.KubernetesVersion, ".")] }

// upgradeAllowed waits until the status asks the owner to upgrade, and allows it.
func (p *Play) upgradeAllowed(ctx context.Context) error {
	err := p.witness.untilAny(ctx, "a condition with reason "+upgradeRequired, patience, func(status *ucv1.ClusterStatus) bool {
		return slices.ContainsFunc(status.Conditions, func(c metav1.Condition) bool { return c.Reason == upgradeRequired })
	})
	if err != nil {
		return err
	}
	return p.WaitFor(ctx, "the upgrade to be allowed", patience, func(ctx context.Context) (string, error) {
		cluster := &unstructured.Unstructured{}
		cluster.SetGroupVersionKind(ucv1.GroupVersion().WithKind("Cluster"))
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(p.User.NewCluster(false)), cluster); err != nil {
			return "", err
		}
		allowed, _, err := unstructured.NestedString(cluster.Object, "status", "handover", "upgradeAllowedTo")
		if err != nil || allowed == newMinor() {
			return "", err
		}
		return fmt.Sprintf("status.handover.upgradeAllowedTo is %q", allowed), nil
	})
}

// upgradeComponent is done when no pod of the component is wanted any more that is of the older release.
func (p *Play) upgradeComponent(ctx context.Context, component string) error {
	p.witness.note(Upgraded, component)
	err := p.User.Upgrade(ctx, component, bed.KubernetesVersion)
	if err != nil || p.Scenario.Setup.Topology == External {
		return err
	}
	return p.WaitForDeployment(p.User.Namespace, component)
}

// sayUpgraded gives the Cluster the new version. It tries again: the manager, whose webhook is asked, may be starting.
func (p *Play) sayUpgraded(ctx context.Context) error {
	p.witness.note(Upgraded, "spec.version")
	return p.WaitFor(ctx, "spec.version to be accepted", patience, func(ctx context.Context) (string, error) {
		return "", p.patchCluster(ctx, map[string]any{"version": "v" + bed.KubernetesVersion})
	})
}

func (p *Play) patchCluster(ctx context.Context, spec map[string]any) error {
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return err
	}
	return p.Client.Patch(ctx, p.User.NewCluster(false), client.RawPatch(types.MergePatchType, patch))
}

// upgradeHalf is an owner who says that the API servers are upgraded when one of them is, beside two of the older release that
// answer, too. No CCM may start before those have ended, which the judge asks of its process.
func upgradeHalf(ctx context.Context, p *Play) error {
	if err := p.upgradeAllowed(ctx); err != nil {
		return err
	}
	if err := p.holdRolloutsOf(ctx, apiServerName, true); err != nil {
		return err
	}
	p.witness.note(Upgraded, "one "+apiServerName)
	if err := p.User.Upgrade(ctx, apiServerName, bed.KubernetesVersion); err != nil {
		return err
	}
	if err := p.waitForProcesses(ctx, p.User.Namespace, apiServerName, 3); err != nil {
		return err
	}
	if err := p.sayUpgraded(ctx); err != nil {
		return err
	}
	if err := p.elapse(ctx, 20*time.Second); err != nil {
		return err
	}
	p.witness.note(Upgraded, apiServerName)
	if err := p.holdRolloutsOf(ctx, apiServerName, false); err != nil {
		return err
	}
	return p.WaitForDeployment(p.User.Namespace, apiServerName)
}

// upgradeAndKillKCM kills the KCM that holds the migration lock while the owner upgrades: another one takes both Leases.
func upgradeAndKillKCM(ctx context.Context, p *Play) error {
	if err := p.upgradeAllowed(ctx); err != nil {
		return err
	}
	if err := p.killKCMLeader(); err != nil {
		return err
	}
	return upgrade(ctx, p)
}

// together plays several at once.
func together(acts ...func(context.Context, *Play) error) func(context.Context, *Play) error {
	return func(ctx context.Context, p *Play) error {
		group, ctx := errgroup.WithContext(ctx)
		for _, act := range acts {
			group.Go(func() error { return act(ctx, p) })
		}
		return group.Wait()
	}
}

// upgradeRest is the owner who upgrades what is left when the whole migration has ended. KCM comes last, and stays: it has no
// in-tree provider left that could keep it from starting.
func upgradeRest(ctx context.Context, p *Play) error {
	if err := p.finishMigration(ctx); err != nil {
		return err
	}
	for _, component := range []string{schedulerName, kcmName} {
		if err := p.upgradeComponent(ctx, component); err != nil {
			return err
		}
	}
	if err := p.WaitFor(ctx, "a new KCM to lead", patience, p.newKCMLacks); err != nil {
		return err
	}
	leader := p.kcmLeader()
	// Whoever could not renew would have lost the Lease within one, and whatever crashes does so at once.
	if err := p.elapse(ctx, 2*p.Scenario.Setup.Lease); err != nil {
		return err
	}
	if now := p.kcmLeader(); now != leader {
		return fmt.Errorf("KCM was led by %s after its upgrade, and then by %q", leader, now)
	}
	return p.neverRestarted(ctx)
}

// newKCMLacks says why none of the present pods leads: the Lease may be from the time of a static pod that had the same name.
func (p *Play) newKCMLacks(ctx context.Context) (string, error) {
	leader, _, err := p.kcmPods(ctx)
	if err != nil || leader == nil {
		return "no pod of KCM has its Lease", err
	}
	lease := &coordinationv1.Lease{}
	if err := p.User.Client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcmName}, lease); err != nil {
		return "", err
	}
	if lease.Spec.AcquireTime.BeforeTime(leader.Status.StartTime) {
		return "KCM's Lease is from before " + leader.Name, nil
	}
	return "", nil
}

// finishMigration vouches for the Nodes, which have no Machines, and waits for the last step. A Node whose instance was deleted
// has to be gone before: one that goes although a person vouched for it would be missed.
func (p *Play) finishMigration(ctx context.Context) error {
	if _, err := p.served(ctx); err != nil {
		return err
	}
	nodes := &corev1.NodeList{}
	if err := p.User.Client.List(ctx, nodes); err != nil {
		return err
	}
	var names []string
	for i := range nodes.Items {
		names = append(names, nodes.Items[i].Name)
	}
	if err := p.patchCluster(ctx, map[string]any{"rollout": map[string]any{"acceptNodes": names}}); err != nil {
		return err
	}
	return p.witness.until(ctx, "the end of the migration", patience, func(w *witness) bool {
		return w.seen[len(w.seen)-1].Step == ucv1.StepFinished
	})
}

// neverRestarted says which pod of KCM ended by itself.
func (p *Play) neverRestarted(ctx context.Context) error {
	leader, others, err := p.kcmPods(ctx)
	if err != nil {
		return err
	}
	if leader == nil {
		return errors.New("no pod of KCM has its Lease")
	}
	for _, pod := range append(others, leader) {
		for _, status := range pod.Status.ContainerStatuses {
			if status.RestartCount > 0 {
				return fmt.Errorf("%s of KCM was restarted %d times after its upgrade", pod.Name, status.RestartCount)
			}
		}
	}
	return nil
}
