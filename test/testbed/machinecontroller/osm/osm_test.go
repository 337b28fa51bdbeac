package osm

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/leader"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/machinecontroller/machines"
)

// withoutNamespace refuses Secrets until their namespace exists, as an API
// server does.
func withoutNamespace() interceptor.Funcs {
	exists := false
	return interceptor.Funcs{Create: func(
		ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption,
	) error {
		switch object.(type) {
		case *corev1.Namespace:
			exists = true
		case *corev1.Secret:
			if !exists {
				return apierrors.NewNotFound(corev1.Resource("namespaces"), object.GetNamespace())
			}
		}
		return c.Create(ctx, object, options...)
	}}
}

func TestReconcile(t *testing.T) {
	deployment := func(revision string) *machines.MachineDeployment {
		out := &machines.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "pool", UID: "u"}}
		if revision != "" {
			out.Annotations = map[string]string{machines.RevisionAnnotation: revision}
		}
		return out
	}
	annotated, going := deployment("1"), deployment("1")
	annotated.Annotations["example.com/note"] = "of anyone"
	going.Finalizers, going.DeletionTimestamp = []string{machines.ConfigFinalizer}, new(metav1.Now())
	tests := map[string]struct {
		deployment *machines.MachineDeployment
		before     []*corev1.Secret
		external   bool
		want       string
	}{
		"a first revision is written from the flag":       {deployment("1"), nil, false, "in-tree"},
		"a first revision with the flag is external":      {deployment("1"), nil, true, "external"},
		"a changed flag alone rewrites nothing":           {deployment("1"), machines.RenderBootstrap(deployment("1"), false).Secrets(), true, "in-tree"},
		"a new revision is rewritten from the flag":       {deployment("2"), machines.RenderBootstrap(deployment("1"), false).Secrets(), true, "external"},
		"a changed annotation rewrites it from the flag":  {annotated, machines.RenderBootstrap(deployment("1"), false).Secrets(), true, "external"},
		"no revision yet means nothing is written":        {deployment(""), nil, true, ""},
		"the Secret of a deleted MachineDeployment goes":  {going, machines.RenderBootstrap(deployment("1"), true).Secrets(), true, ""},
		"a deleted MachineDeployment without one is fine": {nil, nil, true, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			scheme, err := leader.Scheme()
			g.Expect(err).NotTo(HaveOccurred())
			builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(withoutNamespace())
			if test.deployment != nil {
				builder.WithObjects(test.deployment)
			}
			for _, secret := range test.before {
				builder.WithObjects(secret)
			}
			c := builder.Build()
			_, err = NewReconciler(c, test.external).Reconcile(t.Context(), ctrl.Request{
				NamespacedName: client.ObjectKey{Namespace: "kube-system", Name: "pool"},
			})
			g.Expect(err).NotTo(HaveOccurred())
			expectHeld(t, c, test.deployment != nil && test.deployment.DeletionTimestamp == nil)
			for _, kind := range []string{machines.ConfigSecret, machines.FetchSecret} {
				secret := &corev1.Secret{}
				err = c.Get(
					t.Context(), client.ObjectKey{Namespace: "cloud-init-settings", Name: "pool-kube-system-" + kind + "-config"}, secret,
				)
				if test.want == "" {
					g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
					continue
				}
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(*secret.Immutable).To(BeTrue())
				g.Expect(machines.BootstrapIsCurrent(test.deployment, secret)).To(BeTrue())
				g.Expect(secret.Data).To(Equal(wantedOf(test.deployment, test.want == "external", kind).Data))
			}
		})
	}
}

// expectHeld says that the MachineDeployment has the finalizer; without one, one that is deleted is gone.
func expectHeld(t *testing.T, c client.Client, held bool) {
	t.Helper()
	g, live := NewWithT(t), &machines.MachineDeployment{}
	err := c.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "pool"}, live)
	if !held {
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "no finalizer is left")
		return
	}
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(live.Finalizers).To(ConsistOf(machines.ConfigFinalizer))
}

func wantedOf(deployment *machines.MachineDeployment, external bool, kind string) *corev1.Secret {
	bootstrap := machines.RenderBootstrap(deployment, external)
	if kind == machines.FetchSecret {
		return bootstrap.Fetch
	}
	return bootstrap.Config
}
