package integration_test

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
)

const (
	armedFlag = "--enable-leader-migration=true"
	lockFlag  = "--leader-migration-config=/etc/ccm-migration/leader-migration.yaml"
	lockRole  = "ccm-migration:" + handover.LockName + "-lease"
)

// kcmClient has the name that KCM has in every cluster; the real authorizer decides whether it gets the lock.
func (w *world) kcmClient() client.Client {
	w.t.Helper()
	config := rest.CopyConfig(w.user.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: handover.KCMUser, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: suite.scheme, Mapper: w.user.client.RESTMapper()})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	return c
}

// byLock asks for protocol LeaderMigration.
func byLock(c *ucv1.Cluster) { c.Spec.Handover.Protocol = ucv1.LeaderMigrationProtocolChoice }

// lockPlayers are the managers that elect a second time when they lead and have the lock.
type lockPlayers struct {
	*world
	asKCM client.Client
	// early says that the fence was seen open while a KCM pod without the lock could run loops.
	early bool
}

func (p *lockPlayers) play() {
	p.t.Helper()
	p.playEverybody()
	p.playArmedKCM()
	deployment := p.ccm()
	if deployment != nil && slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, armedFlag) && p.playCCM() {
		p.elect(p.asCCM, ccm+"-0_1")
	}
}

func (p *lockPlayers) playArmedKCM() {
	p.t.Helper()
	for _, pod := range p.pods(kcm) {
		arguments := slices.Concat(pod.Spec.Containers[0].Command, pod.Spec.Containers[0].Args)
		locked := slices.Contains(arguments, armedFlag) && slices.Contains(arguments, lockFlag)
		if p.exists(&rbacv1.RoleBinding{}, "ccm-migration:"+ccm+"-lease") && pod.Status.Phase == corev1.PodRunning {
			p.early = p.early || !locked && !slices.ContainsFunc(arguments, func(a string) bool { return a == loopsOff() })
		}
		if locked && pod.DeletionTimestamp == nil {
			p.elect(p.asKCM, pod.Name+"_1")
			return
		}
	}
}

func loopsOff() string {
	return "--controllers=*,bootstrapsigner,-cloud-node-lifecycle-controller,-node-route-controller,-service-lb-controller"
}

// elect takes the lock when its holder is gone for a lease duration.
func (p *lockPlayers) elect(as client.Client, holder string) {
	p.t.Helper()
	lease := &coordinationv1.Lease{}
	err := p.user.client.Get(p.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: handover.LockName}, lease)
	if err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != holder &&
		p.clock.Now().Sub(lease.Spec.RenewTime.Time) < 15*time.Second {
		return
	}
	if err := p.renew(as, handover.LockName, holder); err != nil && !apierrors.IsForbidden(err) {
		p.t.Fatal(err)
	}
}

func (p *lockPlayers) ccm() *appsv1.Deployment {
	p.t.Helper()
	deployment := &appsv1.Deployment{}
	if !p.exists(deployment, ccm) {
		return nil
	}
	return deployment
}

func (p *lockPlayers) exists(object client.Object, name string) bool {
	p.t.Helper()
	err := p.user.client.Get(p.t.Context(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: name}, object)
	NewWithT(p.t).Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

func (p *lockPlayers) lockFile() (*corev1.ConfigMap, error) {
	file := &corev1.ConfigMap{}
	return file, suite.client.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: alpha + "-ccm-migration-lock"}, file)
}

func TestTheMigrationLockGoesFromKCMToTheCCM(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	p := &lockPlayers{world: w, asKCM: w.kcmClient()}
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.create(byLock)
	w.pass()
	w.edit(feature(true))

	w.until(
		"a KCM with the lock",
		func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.FenceOpenedAt != nil }, p.play,
	)
	g.Expect(w.status().Handover.Protocol).To(Equal(ucv1.LeaderMigrationProtocol))
	file, err := p.lockFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file.Immutable).To(HaveValue(BeTrue()))
	g.Expect(file.Data["leader-migration.yaml"]).To(ContainSubstring(`name: "service-lb-controller"`))
	pod := w.deployment(kcm).Spec.Template.Spec
	g.Expect(w.arguments(kcm)).To(ContainElements(armedFlag, lockFlag))
	g.Expect(pod.Volumes).To(ConsistOf(HaveField("ConfigMap.Name", file.Name)))
	g.Expect(pod.Containers[0].VolumeMounts).To(ConsistOf(HaveField("MountPath", "/etc/ccm-migration")))
	g.Expect(p.exists(&rbacv1.RoleBinding{}, lockRole)).To(BeTrue())
	ours := p.ccm().Spec.Template.Spec
	g.Expect(ours.Containers[0].Args).To(ContainElements(armedFlag, lockFlag))
	theirs := &corev1.ConfigMap{}
	g.Expect(p.exists(theirs, ccm+"-leader-migration")).To(BeTrue())
	g.Expect(theirs.Data).To(Equal(file.Data), "both managers have the same lock")

	w.until("the CCM holding the lock", func(c *ucv1.Cluster) bool { return c.Status.Handover.LockTakenAt != nil }, p.play)
	g.Expect(w.status().Handover.Proof).To(HaveEach(HaveField("State", ucv1.ProvenState)))
	g.Expect(w.arguments(kcm)).To(And(ContainElement(loopsOff()), Not(ContainElement(armedFlag)), Not(ContainElement(lockFlag))))
	g.Expect(w.deployment(kcm).Spec.Template.Spec.Volumes).To(BeEmpty())
	g.Expect(w.deployment(kcm).Spec.Template.Spec.Containers[0].VolumeMounts).To(BeEmpty())
	t.Logf("gap: %d s", *w.status().Handover.GapSeconds)
	g.Expect(*w.status().Handover.GapSeconds).To(BeNumerically("<=", 18))

	w.until("the end of the hand-over", func(c *ucv1.Cluster) bool { return c.Status.Handover.FinishedAt != nil }, p.play)
	g.Expect(p.early).To(BeFalse(), "the fence opens when every KCM process has the lock")
	p.expectNothingLeft()
	w.until("the end", finished, p.play)
	g.Expect(w.machineNames()).To(ConsistOf("pool-1-0"))
}

func (p *lockPlayers) expectNothingLeft() {
	p.t.Helper()
	NewWithT(p.t).Expect(p.ccm().Spec.Template.Spec.Containers[0].Args).NotTo(ContainElement(armedFlag))
	p.expectNoLock()
}

func (p *lockPlayers) expectNoLock() {
	p.t.Helper()
	g := NewWithT(p.t)
	_, err := p.lockFile()
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the file of KCM is gone")
	for name, object := range map[string]client.Object{
		lockRole: &rbacv1.Role{}, ccm + "-leader-migration": &corev1.ConfigMap{}, handover.LockName: &coordinationv1.Lease{},
	} {
		g.Expect(p.exists(object, name)).To(BeFalse(), "%T %s is gone", object, name)
	}
	g.Expect(p.exists(&rbacv1.RoleBinding{}, lockRole)).To(BeFalse())
}

// findings are all of preflight: the condition says the first.
func (w *world) findings() []ucv1.PreflightFinding { return w.status().Preflight.Findings }

func TestLeaderMigrationIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	t.Parallel()
	with := func(flags ...string) []string { return append(loopsOn(), flags...) }
	tests := map[string]struct {
		arguments []string
		prepare   func(*testing.T, *world)
		change    modifier
		says      []string
	}{
		"a KCM without leader election": {arguments: with("--leader-elect=false"), says: []string{"--leader-elect=false"}},
		"a KCM that is armed already":   {arguments: with(armedFlag), says: []string{"has --enable-leader-migration already"}},
		"a KCM whose Leases are elsewhere": {
			arguments: with("--leader-elect-resource-namespace=default"), says: []string{"in namespace default and the CCM in kube-system"},
		},
		"a KCM that is not in-tree": {arguments: []string{"--cloud-provider=external", "--cluster-name=alpha-1"}, says: []string{"nothing to hand over"}},
		"a release that is known to be bad": {
			arguments: loopsOn(), change: func(c *ucv1.Cluster) { c.Spec.Version = "1.36.3" },
			says: []string{"exits as soon as it gets the migration lock"},
		},
		"a lock that someone holds": {
			arguments: loopsOn(), prepare: func(t *testing.T, w *world) {
				NewWithT(t).Expect(w.renew(w.user.client, handover.LockName, "stranger_1")).To(Succeed())
			},
			says: []string{"is held by stranger_1 already"},
		},
		"a CCM that the fence does not keep from its Lease, and a KCM without leader election": {
			arguments: with("--leader-elect=false"), prepare: func(_ *testing.T, w *world) { w.leasesForEverybody() },
			says: []string{"although our fence is closed", "--leader-elect=false"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := newWorld(t)
			w.deployControlPlane(tc.arguments...)
			if tc.prepare != nil {
				tc.prepare(t, w)
			}
			w.create(byLock, func(c *ucv1.Cluster) {
				if tc.change != nil {
					tc.change(c)
				}
			})
			w.pass()
			before := w.touched()
			w.edit(feature(true))
			w.until("a finding", func(c *ucv1.Cluster) bool {
				return c.Status.Step == ucv1.StepPreflight && w.condition("Stalled").Reason != ""
			})
			for _, words := range tc.says {
				g.Expect(w.findings()).To(ContainElement(HaveField("Message", ContainSubstring(words))))
			}
			g.Expect(w.status().StartedAt).To(BeNil())
			g.Expect(w.touched()).To(Equal(before), "nothing is touched")
			g.Expect(w.ccmDeployed()).To(BeFalse())
			role := &rbacv1.Role{}
			g.Expect(w.user.client.Get(context.WithoutCancel(t.Context()), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: lockRole},
				role)).To(MatchError(apierrors.IsNotFound, "IsNotFound"))
		})
	}
}
