package integration_test

import (
	"context"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

const kcmRight = "ccm-migration:kube-controller-manager-lease"

// electing are KCMs that wait for their Lease as client-go does: until no one holds it, or it has run out.
type electing struct {
	*world
	// freed is how often the Lease had no holder, right how often our right to it was there.
	freed, right int
	// waited is how long no one led at most.
	waited time.Duration
	before coordinationv1.LeaseSpec
}

func (e *electing) play() {
	e.t.Helper()
	e.playControlPlane()
	e.playAddons()
	e.playMachines()
	for _, pod := range e.pods(kcm) {
		e.ledger.OnUpdate(nil, &pod)
	}
	lease := e.lease(kcm)
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		e.freed++
		e.before.HolderIdentity = nil
		NewWithT(e.t).Expect(lease.Spec).To(Equal(e.before), "all but the holder is left")
	}
	if e.rightIsThere() {
		e.right++
	}
	for _, pod := range e.pods(kcm) {
		ended := pod.Status.ContainerStatuses[0].State.Terminated != nil
		switch holder := pod.Name + "_1"; {
		case ended:
		case ptr.Deref(lease.Spec.HolderIdentity, "") == holder:
			e.playKCM(pod.Name)
		case pod.DeletionTimestamp == nil && e.free(lease):
			e.waited = max(e.waited, e.clock.Now().Sub(lease.Spec.RenewTime.Time))
			e.playKCM(pod.Name)
		}
		lease = e.lease(kcm)
	}
	e.before = lease.Spec
}

func (e *electing) free(lease *coordinationv1.Lease) bool {
	return ptr.Deref(lease.Spec.HolderIdentity, "") == "" || e.clock.Now().Sub(lease.Spec.RenewTime.Time) > 15*time.Second
}

func (w *world) lease(name string) *coordinationv1.Lease {
	w.t.Helper()
	lease := &coordinationv1.Lease{}
	NewWithT(w.t).Expect(
		w.user.client.Get(w.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: name}, lease),
	).To(Succeed())
	return lease
}

func (w *world) rightIsThere() bool {
	w.t.Helper()
	there := false
	for _, object := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}} {
		err := w.user.client.Get(w.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcmRight}, object)
		NewWithT(w.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
		there = there || err == nil
	}
	return there
}

// TestKCMsLeaseIsFreedByARightForTheTime: in each rollout of KCM the next one leads long before the Lease runs out.
func TestKCMsLeaseIsFreedByARightForTheTime(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	e := &electing{world: newWorld(t)}
	e.deployControlPlane(loopsOn()...)
	e.pool("pool", 1)
	e.playKCM(kcm + "-r1-0")
	e.before = e.lease(kcm).Spec
	e.flip()
	e.until("the end", finished, e.play, func() { e.playCCM() })
	g.Expect(e.freed).To(BeNumerically(">", 0))
	g.Expect(e.right).To(BeNumerically(">", 0))
	g.Expect(e.rightIsThere()).To(BeFalse(), "it is taken back before all is finished")
	g.Expect(e.status().Handover.KCMLeaseGrantedAt).To(BeNil())
}

// TestALeaseThatWeMayNotFreeIsLeftAlone: nothing fails, and it runs out.
func TestALeaseThatWeMayNotFreeIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	e := &electing{world: newWorld(t)}
	e.deployControlPlane(loopsOn()...)
	e.pool("pool", 1)
	e.playKCM(kcm + "-r1-0")
	e.before = e.lease(kcm).Spec
	e.withoutRoles(kcmRight)
	e.flip()
	e.until("the end", finished, e.play, func() { e.playCCM() })
	g.Expect(e.freed).To(BeZero())
	g.Expect(e.right).To(BeZero())
}

// withoutRoles takes a name out of what the controller may write in the user cluster.
func (w *world) withoutRoles(name string) {
	w.t.Helper()
	g := NewWithT(w.t)
	role := &rbacv1.Role{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "ccm-migration-controller"}
	g.Expect(w.user.client.Get(w.t.Context(), key, role)).To(Succeed())
	all := role.DeepCopy()
	for i := range role.Rules {
		kept := []string{}
		for _, one := range role.Rules[i].ResourceNames {
			if one != name {
				kept = append(kept, one)
			}
		}
		role.Rules[i].ResourceNames = kept
	}
	g.Expect(w.user.client.Update(w.t.Context(), role)).To(Succeed())
	w.t.Cleanup(func() {
		ctx := context.WithoutCancel(w.t.Context())
		g.Expect(w.user.client.Get(ctx, key, role)).To(Succeed())
		role.Rules = all.Rules
		g.Expect(w.user.client.Update(ctx, role)).To(Succeed())
	})
}

// TestTheCCMsLeaseIsFreedWhenItsPodIsDrained also shows that nothing but the holder changes, and that a renewal in between is a
// conflict.
func TestTheCCMsLeaseIsFreedWhenItsPodIsDrained(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 2)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the roll", at(ucv1.StepRoll), w.playEverybody, func() { w.playCCM() })

	pod := w.leadingPod(ccm + "-0")
	w.passes(2)
	before := w.lease(ccm)
	g.Expect(before.Spec.HolderIdentity).To(HaveValue(Equal(pod.Name + "_1")))
	g.Expect(w.user.client.Delete(t.Context(), pod)).To(Succeed())
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ContainerID: pod.Status.ContainerStatuses[0].ContainerID, FinishedAt: metav1.NewTime(w.clock.Now()),
	}}
	g.Expect(w.user.client.Status().Update(t.Context(), pod)).To(Succeed())
	ended := w.clock.Now()
	g.Eventually(func() string {
		w.clock.Step(500 * time.Millisecond)
		w.pass()
		return ptr.Deref(w.lease(ccm).Spec.HolderIdentity, "")
	}, deadline, interval).Should(BeEmpty())
	g.Expect(w.clock.Now().Sub(ended)).To(BeNumerically("<", 12*time.Second))
	after := w.lease(ccm)
	before.Spec.HolderIdentity = nil
	g.Expect(after.Spec).To(Equal(before.Spec))
	g.Expect(after.UID).To(Equal(before.UID))

	// The next one takes it; one that was written since it was seen is left alone, and so is another one of its name.
	g.Expect(w.playCCM()).To(BeTrue())
	session, connected := w.registry.Session(w.key())
	g.Expect(connected).To(BeTrue())
	seen := session.Leases.Lease(t.Context(), metav1.NamespaceSystem, ccm).Value()
	w.clock.Step(time.Second)
	g.Expect(w.playCCM()).To(BeTrue())
	g.Expect(session.Leases.FreeLease(t.Context(), seen)).To(MatchError(ContainSubstring("modified")))
	again := session.Leases.Lease(t.Context(), metav1.NamespaceSystem, ccm).Value()
	again.UID = "another"
	g.Expect(session.Leases.FreeLease(t.Context(), again)).To(MatchError(ContainSubstring("metadata.uid")))
	g.Expect(w.lease(ccm).Spec.HolderIdentity).To(HaveValue(Equal(pod.Name + "_1")))
	g.Expect(w.user.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0))).To(Succeed())
}

// leadingPod is one of the CCM's, which runs on a Node and holds the Lease.
func (w *world) leadingPod(name string) *corev1.Pod {
	w.t.Helper()
	g := NewWithT(w.t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name},
		Spec: corev1.PodSpec{
			ServiceAccountName: ccm, NodeName: "any", TerminationGracePeriodSeconds: new(int64(30)),
			Containers: []corev1.Container{{Name: "ccm", Image: "registry.example.com/workload:1"}},
		},
	}
	g.Expect(w.user.client.Create(w.t.Context(), pod)).To(Succeed())
	started := w.lease(ccm).Spec.AcquireTime.Add(-time.Minute)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "ccm", ContainerID: "containerd://" + strings.Repeat("a", 8), Image: "i", ImageID: "i",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(started)}},
	}}}
	g.Expect(w.user.client.Status().Update(w.t.Context(), pod)).To(Succeed())
	return pod
}

// TestTheRightToALease: it is for the one Lease, for us alone, and nothing is left of it.
func TestTheRightToALease(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.flip()
	w.until("a connection", func(*ucv1.Cluster) bool { _, connected := w.registry.Session(w.key()); return connected })
	session, _ := w.registry.Session(w.key())
	lease := observation.Ref{Kind: "Lease", Namespace: metav1.NamespaceSystem, Name: kcm}
	right := func(s *usercluster.Session) observation.LeaseRight {
		seen := s.Leases.LeaseRight(t.Context(), lease)
		g.Expect(seen.IsKnown()).To(BeTrue(), seen.Why())
		return seen.Value()
	}
	g.Expect(right(session)).To(Equal(observation.LeaseRight{}))
	g.Expect(session.Leases.GrantLease(t.Context(), lease)).To(Succeed())
	g.Eventually(
		func() observation.LeaseRight { return right(session) },
		deadline,
		interval,
	).Should(Equal(observation.LeaseRight{May: true, There: true}))
	binding := &rbacv1.RoleBinding{}
	g.Expect(w.user.client.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: kcmRight}, binding)).To(
		Succeed(),
	)
	g.Expect(binding.Subjects).To(
		ConsistOf(rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ccm-migration-controller"}),
	)
	g.Expect(session.Leases.RevokeLease(t.Context(), lease)).To(Succeed())
	g.Expect(session.Leases.RevokeLease(t.Context(), lease)).To(Succeed(), "twice is once")
	g.Eventually(func() observation.LeaseRight { return right(session) }, deadline, interval).Should(Equal(observation.LeaseRight{}))
}
