package integration_test

import (
	"maps"
	"slices"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// record is the Secret with the record, and what it says.
func (w *world) record() (*corev1.Secret, observation.Record) {
	w.t.Helper()
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: w.namespace, Name: alpha + "-ccm-migration-record"}
	NewWithT(w.t).Expect(suite.client.Get(w.t.Context(), key, secret)).To(Succeed())
	return secret, migration.DecodeRecord(secret.Data)
}

// collectGarbage plays the garbage collector for an owner that is gone.
func (w *world) collectGarbage(owner types.UID) {
	w.t.Helper()
	g := NewWithT(w.t)
	secrets, configMaps := &corev1.SecretList{}, &corev1.ConfigMapList{}
	g.Expect(suite.client.List(w.t.Context(), secrets, client.InNamespace(w.namespace))).To(Succeed())
	g.Expect(suite.client.List(w.t.Context(), configMaps, client.InNamespace(w.namespace))).To(Succeed())
	var objects []client.Object
	for i := range secrets.Items {
		objects = append(objects, &secrets.Items[i])
	}
	for i := range configMaps.Items {
		objects = append(objects, &configMaps.Items[i])
	}
	for _, object := range objects {
		if slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner }) {
			g.Expect(suite.client.Delete(w.t.Context(), object)).To(Succeed())
		}
	}
}

// prune deletes the Cluster, as a tool does when its file is gone from Git, and waits until it is gone.
func (w *world) prune() {
	w.t.Helper()
	c, _ := w.cluster()
	w.delete()
	w.until("its end", w.gone, w.playEverybody)
	w.pass()
	w.collectGarbage(c.UID)
}

func (w *world) abandon() {
	w.t.Helper()
	c, _ := w.cluster()
	w.edit(func(c *ucv1.Cluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, ucv1.AbandonAnnotation, "true") })
	w.delete()
	w.expectGone()
	w.collectGarbage(c.UID)
}

// restore is a backup that is restored: the Cluster is made again, without its status, and no one was asked.
func (w *world) restore() {
	w.t.Helper()
	c, _ := w.cluster()
	w.edit(func(c *ucv1.Cluster) { c.Finalizers = nil })
	w.delete()
	_, gone := w.cluster()
	NewWithT(w.t).Expect(gone).To(BeTrue())
	w.collectGarbage(c.UID)
}

func TestAClusterThatReturnsUnderItsNameGoesOn(t *testing.T) {
	t.Parallel()
	addons := func(*world) func(*ucv1.Cluster) bool { return at(ucv1.StepAddons) }
	silence := func(*world) func(*ucv1.Cluster) bool { return provingSilence }
	roll := func(*world) func(*ucv1.Cluster) bool {
		return func(c *ucv1.Cluster) bool { return len(c.Status.RolledMachineDeployments) > 0 }
	}
	finished := func(*world) func(*ucv1.Cluster) bool { return at(ucv1.StepFinished) }
	for name, tc := range map[string]struct {
		when func(*world) func(*ucv1.Cluster) bool
		goes func(*world)
	}{
		"pruned before the hand-over":             {addons, (*world).prune},
		"pruned when the loops are off":           {silence, (*world).prune},
		"pruned in the roll":                      {roll, (*world).prune},
		"pruned when it is finished":              {finished, (*world).prune},
		"abandoned when the loops are off":        {silence, (*world).abandon},
		"abandoned in the roll":                   {roll, (*world).abandon},
		"restored without status, the loops off":  {silence, (*world).restore},
		"restored without status, in the roll":    {roll, (*world).restore},
		"restored without status, when it rested": {finished, (*world).restore},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			w := newWorld(t)
			w.deployControlPlane(loopsOn()...)
			w.pool("small", 1)
			w.pool("large", 2)
			w.playKCM(kcm + "-r1-0")
			w.flip()
			w.until("the middle", tc.when(w), w.playEverybody)
			tc.goes(w)
			_, record := w.record()
			before := record.Facts
			g.Expect(record.Problem).To(BeEmpty())

			w.create(feature(true))
			w.passes(2)
			g.Expect(w.status().Origin).To(Equal(ucv1.OriginMigrating), "it looks as if it had been created with the feature")
			g.Expect(w.status().StartedAt).To(Equal(before.StartedAt))
			w.until("the end", at(ucv1.StepFinished), w.playEverybody)
			after := w.status()
			g.Expect(after.Inherited).To(Equal(before.Inherited), "volumes have the UID of the first Cluster")
			g.Expect(w.machineNames()).To(ConsistOf("small-1-0", "large-1-0", "large-1-1"), "each was replaced once")
			if before.RollGeneration != "" {
				g.Expect(after.RollGeneration).To(Equal(before.RollGeneration))
			}
			if before.Baseline != nil {
				g.Expect(after.Baseline).To(Equal(before.Baseline))
				g.Expect(after.Handover.Original).To(Equal(before.Handover.Original))
				g.Expect(after.Handover.Processes).To(HaveLen(len(before.Handover.Processes)))
			}
			w.expectVerdict(kstatus.CurrentStatus)
		})
	}
}

func TestTheRecordIsOfKCMsDeployment(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the proof of silence", provingSilence, w.playEverybody)
	secret, record := w.record()
	deployment := w.deployment(kcm)
	g.Expect(secret.OwnerReferences).To(
		ConsistOf(And(HaveField("Kind", "Deployment"), HaveField("Name", kcm), HaveField("UID", deployment.UID))),
	)
	g.Expect(record.Keeper).To(Equal(string(deployment.UID)))
	facts := w.status().Facts
	facts.Handover.Stage, facts.Handover.Proof, facts.Handover.PointOfNoReturn = "", nil, nil
	g.Expect(record.Facts).To(Equal(facts))
	inTenant := &corev1.SecretList{}
	g.Expect(w.user.client.List(t.Context(), inTenant)).To(Succeed())
	g.Expect(inTenant.Items).NotTo(ContainElement(HaveField("Name", secret.Name)))
	for _, other := range []client.Object{
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: w.status().Baseline.SecretName}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: alpha + "-ccm-migration-addons"}},
	} {
		g.Expect(suite.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: other.GetName()}, other)).To(Succeed())
		g.Expect(other.GetOwnerReferences()).To(Equal(secret.OwnerReferences), "a Cluster that returns needs it")
	}

	g.Expect(suite.client.Delete(t.Context(), secret)).To(Succeed())
	w.pass()
	_, again := w.record()
	g.Expect(again.Facts).To(Equal(facts), "what someone deletes is written again")
}

func TestARecordOfAnotherControlPlaneIsRefused(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the proof of silence", provingSilence, w.playEverybody)
	w.abandon()
	secret, _ := w.record()
	good := secret.Data
	w.create(feature(true))
	put := func(data map[string][]byte) {
		secret.Data = data
		g.Expect(suite.client.Update(t.Context(), secret)).To(Succeed())
	}
	for _, spoiled := range []struct{ key, value, says string }{
		{migration.RecordKeeperKey, "earlier", "of an object with UID earlier, and Deployment " + w.namespace + "/" + kcm},
		{migration.RecordFactsKey, "{", "cannot be read: key facts.json does not hold the facts"},
		{migration.RecordFactsKey, `{"origin":"Migrating","later":1}`, "cannot be read"},
		{migration.RecordProviderKey, "aws", "with provider aws, and spec.cloud.providerName is simcloud"},
	} {
		data := maps.Clone(good)
		data[spoiled.key] = []byte(spoiled.value)
		put(data)
		w.passes(3)
		w.expectVerdict(kstatus.FailedStatus)
		g.Expect(w.condition("Stalled")).To(
			And(HaveField("Reason", ucv1.RecordUnusableReason), HaveField("Message", ContainSubstring(spoiled.says))),
		)
		g.Expect(w.status().Origin).To(BeEmpty(), "nothing is guessed")
	}
	put(good)
	w.passes(2) // While KCM's recorded pods can still be seen to end.
	w.until("the end", at(ucv1.StepFinished), w.playEverybody)
}

func TestAReturnWithTheFeatureOffCallsAPerson(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until(
		"a CCM that leads",
		func(c *ucv1.Cluster) bool { return c.Status.Handover != nil && c.Status.Handover.FinishedAt != nil },
		w.playEverybody,
	)
	w.prune()
	w.create()
	w.passes(2)
	w.expectVerdict(kstatus.FailedStatus)
	g.Expect(w.condition("Stalled").Reason).To(Equal(ucv1.MigrationRecordedReason))
	original := w.arguments(kcm)
	w.edit(func(c *ucv1.Cluster) { feature(true)(c); c.Spec.Handover.Rollback = true })
	w.until("the way back", at(ucv1.StepRolledBack), w.playEverybody)
	g.Expect(w.arguments(kcm)).NotTo(Equal(original))
	g.Expect(w.arguments(kcm)).To(ContainElement("--controllers=*,bootstrapsigner"), "what it was before the first Cluster "+
		"touched it")
}

func TestANamespaceThatGoesTakesTheClusterWithIt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the proof of silence", provingSilence, w.playEverybody)
	// No one plays the namespace controller, which would delete what is in it.
	g.Expect(suite.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
	w.delete()
	w.expectGone()
}

func TestAControlPlaneThatIsGoneLetsTheClusterGo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	w := newWorld(t)
	w.deployControlPlane(loopsOn()...)
	w.pool("pool", 1)
	w.playKCM(kcm + "-r1-0")
	w.flip()
	w.until("the proof of silence", provingSilence, w.playEverybody)
	w.delete()
	w.passes(2)
	_, gone := w.cluster()
	g.Expect(gone).To(BeFalse(), "no one runs the loops now")
	g.Expect(suite.client.Delete(t.Context(), w.deployment(kcm))).To(Succeed())
	w.expectGone()
}
