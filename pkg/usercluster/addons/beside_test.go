package addons

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/render"
)

// hosted is an installer whose CCM is beside the control plane, with an API server that gives tokens for a day.
type hosted struct {
	*Installer
	clock      *clocktesting.FakeClock
	management client.Client
	set        manifest.Set
	tokens     atomic.Int32
	// wrote has the kinds in the order in which they were first written in the management cluster.
	wrote []string
}

func newHosted(t *testing.T) *hosted {
	h := &hosted{}
	var count atomic.Int32
	faults := dryRuns(&count)
	faults.SubResourceCreate = func(
		_ context.Context, _ client.Client, name string, object, sub client.Object, _ ...client.SubResourceCreateOption,
	) error {
		NewWithT(t).Expect(name).To(Equal("token"))
		h.tokens.Add(1)
		request := sub.(*authenticationv1.TokenRequest)
		request.Status.Token = fmt.Sprintf("token %d of %s", h.tokens.Load(), object.GetName())
		request.Status.ExpirationTimestamp = metav1.NewTime(h.clock.Now().Add(24 * time.Hour))
		return nil
	}
	account := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cloud-controller-manager", UID: "1"},
	}
	h.Installer, h.clock = installerWith(faults, account)
	beforeManagement := dryRuns(&count)
	writes := beforeManagement.Patch
	beforeManagement.Patch = func(
		ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption,
	) error {
		if len((&client.PatchOptions{}).ApplyOptions(opts).DryRun) == 0 {
			h.wrote = append(h.wrote, obj.GetObjectKind().GroupVersionKind().Kind)
		}
		return writes(ctx, c, obj, patch, opts...)
	}
	h.management = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().WithInterceptorFuncs(
		beforeManagement,
	).Build()
	h.beside = Beside{Client: h.management, Live: h.management, Namespace: "user-a"}
	var err error
	h.set, err = render.Place{Namespace: "user-a", Cluster: "a", Kubeconfig: []byte("of the CCM")}.Put(renderSimcloud(t).CCM)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return h
}

func (h *hosted) secret(t *testing.T) *corev1.Secret {
	secret := &corev1.Secret{}
	NewWithT(t).Expect(
		h.management.Get(t.Context(), client.ObjectKey{Namespace: "user-a", Name: "a-cloud-controller-manager-kubeconfig"}, secret),
	).To(Succeed())
	return secret
}

func (h *hosted) look(t *testing.T) observation.AddonSet {
	addons := renderSimcloud(t)
	addons.CCM = h.set
	seen, known := h.Observe(t.Context(), InventoryOf(h.set.Objects), addons).Get()
	NewWithT(t).Expect(known).To(BeTrue())
	return seen.CCM
}

func TestPodsBesideComeLastAndFindAToken(t *testing.T) {
	g := NewWithT(t)
	h := newHosted(t)
	g.Expect(h.Apply(t.Context(), h.set)).To(Succeed())
	g.Expect(h.wrote[len(h.wrote)-1]).To(Equal("Deployment"))
	g.Expect(string(h.secret(t).Data["token"])).To(Equal("token 1 of cloud-controller-manager"))
	g.Expect(h.look(t).Drifted).To(BeEmpty())
	g.Expect(h.client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cloud-config"}, &corev1.Secret{})).NotTo(
		Succeed(),
	)

	g.Expect(h.Apply(t.Context(), h.set)).To(Succeed())
	g.Expect(h.tokens.Load()).To(Equal(int32(1)), "it is good for a while")
}

func TestTokenIsRenewed(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(g Gomega, h *hosted, t *testing.T)
		due    bool
	}{
		"when half of its time is over": {change: func(_ Gomega, h *hosted, _ *testing.T) { h.clock.Step(13 * time.Hour) }, due: true},
		"not before":                    {change: func(_ Gomega, h *hosted, _ *testing.T) { h.clock.Step(11 * time.Hour) }},
		"when its ServiceAccount was made again": {due: true, change: func(g Gomega, h *hosted, t *testing.T) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cloud-controller-manager"}}
			g.Expect(h.client.Get(t.Context(), client.ObjectKeyFromObject(account), account)).To(Succeed())
			again := account.DeepCopy()
			again.UID, again.ResourceVersion = "2", ""
			g.Expect(h.client.Delete(t.Context(), account)).To(Succeed())
			g.Expect(h.client.Create(t.Context(), again)).To(Succeed())
			h.clock.Step(time.Hour)
		}},
		"when someone emptied the Secret": {due: true, change: func(g Gomega, h *hosted, t *testing.T) {
			secret := h.secret(t)
			delete(secret.Data, "token")
			g.Expect(h.management.Update(t.Context(), secret)).To(Succeed())
			h.clock.Step(time.Hour)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHosted(t)
			g.Expect(h.Apply(t.Context(), h.set)).To(Succeed())
			tc.change(g, h, t)
			drifted := h.look(t).Drifted
			if !tc.due {
				g.Expect(drifted).To(BeEmpty())
				return
			}
			g.Expect(drifted).To(ConsistOf(h.set.Access.Secret))
			g.Expect(h.Apply(t.Context(), h.set)).To(Succeed())
			g.Expect(string(h.secret(t).Data["token"])).To(HavePrefix("token 2"))
			g.Expect(h.secret(t).Data).To(HaveKey("kubeconfig"))
			g.Expect(h.look(t).Drifted).To(BeEmpty())
		})
	}
}

func TestAChangeOfTheDeploymentBesideIsSeenAtOnce(t *testing.T) {
	g := NewWithT(t)
	h := newHosted(t)
	g.Expect(h.Apply(t.Context(), h.set)).To(Succeed())
	g.Expect(h.look(t).Drifted).To(BeEmpty())
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: "user-a", Name: "a-cloud-controller-manager"}
	g.Expect(h.management.Get(t.Context(), key, deployment)).To(Succeed())
	deployment.Spec.Template.Spec.Containers[0].Args = []string{"--leader-elect=false"}
	deployment.Generation++
	g.Expect(h.management.Update(t.Context(), deployment)).To(Succeed())
	g.Expect(h.look(t).Drifted).To(ConsistOf(HaveField("Name", "a-cloud-controller-manager")))
}

func TestWhatIsBesideIsPrunedThereAndOnlyThere(t *testing.T) {
	g := NewWithT(t)
	h := newHosted(t)
	g.Expect(h.Apply(t.Context(), h.set)).To(Succeed())
	inventory := InventoryOf(h.set.Objects)
	encoded, err := EncodeInventory(inventory)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(encoded)).NotTo(ContainSubstring("user-a"), "an inventory cannot name another namespace of the management "+
		"cluster")
	inventory, err = DecodeInventory(encoded)
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(h.Prune(t.Context(), inventory)).To(Succeed())
	deployments, secrets := &appsv1.DeploymentList{}, &corev1.SecretList{}
	g.Expect(h.management.List(t.Context(), deployments)).To(Succeed())
	g.Expect(h.management.List(t.Context(), secrets)).To(Succeed())
	g.Expect(deployments.Items).To(BeEmpty())
	g.Expect(secrets.Items).To(BeEmpty())
}
