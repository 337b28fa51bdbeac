package handover

import (
	"context"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

// finished waits for the end of the hand-over.
func (p *Play) finished(ctx context.Context) error {
	return p.witness.until(ctx, "the end of the hand-over", patience, func(w *witness) bool {
		return resultOf(&w.seen[len(w.seen)-1]) == HandedOver
	})
}

// killCCMLeader kills the process of the CCM that has just taken a Lease.
func killCCMLeader(lease string) func(context.Context, *Play) error {
	return func(ctx context.Context, p *Play) error {
		leader := ""
		err := p.witness.until(ctx, "a CCM to take Lease "+lease, patience, func(w *witness) bool {
			leader = holder(w.holders[lease])
			return strings.Contains(leader, ccmName)
		})
		if err != nil {
			return err
		}
		return p.signal(p.ccmCluster(), leader, syscall.SIGKILL)
	}
}

// ccmCluster is the cluster that the CCM's pods are in.
func (p *Play) ccmCluster() string {
	if p.Scenario.Setup.BesideControlPlane {
		return bed.ManagementName
	}
	return p.User.Options.Name
}

// killProbes kills every CCM that leads the probe's Lease, until a person is called.
func killProbes(ctx context.Context, p *Play) error {
	killed := map[string]bool{}
	for {
		identity, called := "", false
		err := p.witness.until(ctx, "the probe to lead", patience, func(w *witness) bool {
			identity, called = w.holders[probeLease], resultOf(&w.seen[len(w.seen)-1]) == Stalled
			return called || identity != "" && !killed[identity]
		})
		if err != nil || called {
			return err
		}
		killed[identity] = true
		if err := p.signal(p.ccmCluster(), holder(identity), syscall.SIGKILL); err != nil {
			return err
		}
	}
}

// apiServerAway stops the user cluster's API server while KCM is replaced.
func apiServerAway(ctx context.Context, p *Play) error {
	if err := p.AtLine(ctx, "Silent"); err != nil {
		return err
	}
	p.witness.note(Disturbed, "stopping the API server")
	if err := p.User.StopAPIServer(ctx); err != nil {
		return err
	}
	if err := p.elapse(ctx, 20*time.Second); err != nil {
		return err
	}
	p.witness.note(Disturbed, "starting the API server")
	return p.User.StartAPIServer(ctx)
}

// cloudBroken has the cloud misbehave from before the gap until some time after it.
func cloudBroken(fault simcloud.Fault) func(context.Context, *Play) error {
	return func(ctx context.Context, p *Play) error {
		if err := p.AtLine(ctx, "Silent"); err != nil {
			return err
		}
		p.witness.note(Disturbed, "breaking the cloud")
		fault.Cluster = p.User.Options.Name
		p.Cloud.AddFault(fault)
		defer p.Cloud.ClearFaultsOf(fault.Cluster)
		if err := p.finished(ctx); err != nil {
			return err
		}
		return p.elapse(ctx, 10*time.Second)
	}
}

// leaveLease is a Lease that an earlier CCM left behind.
func leaveLease(ctx context.Context, p *Play) error {
	return p.User.Client.Create(
		ctx,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: ccmName}},
	)
}

// deleteLease deletes it while the fence is closed: the CCM may not make a new one.
func deleteLease(ctx context.Context, p *Play) error {
	if err := p.AtLine(ctx, "Silent"); err != nil {
		return err
	}
	p.witness.note(Disturbed, "deleting the CCM's Lease")
	return p.User.Client.Delete(
		ctx,
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: ccmName}},
	)
}

// freeLeases grants Leases to every ServiceAccount, as some charts do: no fence holds there.
func freeLeases(ctx context.Context, p *Play) error {
	meta := metav1.ObjectMeta{Name: "leases-for-everybody"}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"*"},
		}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"}},
		},
	} {
		if err := p.User.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// allowKCMLock lets KCM hold the migration lock, as Kubernetes' documentation asks for
// (https://kubernetes.io/docs/tasks/administer-cluster/controller-manager-leader-migration/): it is not among its own rights.
func allowKCMLock(ctx context.Context, p *Play) error {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kcm-migration-lock"}
	for _, object := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: handover.KCMUser}},
		},
	} {
		if err := p.User.Client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// reasonOf is the reason of a condition; empty when there is none.
func reasonOf(status *ucv1.ClusterStatus, conditionType string) string {
	for _, condition := range status.Conditions {
		if condition.Type == conditionType {
			return condition.Reason
		}
	}
	return ""
}
