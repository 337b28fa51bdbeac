package fleet

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
)

// server is a management cluster that refuses lists of a kind, if there is an error for it.
func server(t *testing.T, refuse map[string]error, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := management.NewScheme()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			kind := "namespaces"
			switch list.(type) {
			case *ucv1.FleetMigrationList:
				kind = "fleetmigrations"
			case *ucv1.ClusterList:
				kind = "clusters"
			}
			if err := refuse[kind]; err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
}

func forbidden(resource string) map[string]error {
	return map[string]error{resource: apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil)}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	notInstalled := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "usercluster.k8c.io", Kind: "FleetMigration"}}
	for name, tc := range map[string]struct {
		refuse map[string]error
		want   string
	}{
		"FleetMigrations are not installed":  {map[string]error{"fleetmigrations": notInstalled}, "install the CustomResourceDefinition"},
		"FleetMigrations may not be listed":  {forbidden("fleetmigrations"), "list the FleetMigrations in the management cluster at https://m"},
		"Clusters may not be listed":         {forbidden("clusters"), "the right to list all is needed"},
		"Namespaces may not, and are needed": {forbidden("namespaces"), "a FleetMigration has spec.namespaceSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			fm := openstack(func(fm *ucv1.FleetMigration) { fm.Spec.NamespaceSelector = selecting("team", "a") })
			_, err := read(t.Context(), server(t, tc.refuse, fm), "https://m", noon())
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestNamespacesAreReadWhereTheySelect(t *testing.T) {
	g := NewWithT(t)
	cluster := waiting("alpha", "prod", 3)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Namespace, Labels: map[string]string{"team": "a"}}}

	v, err := look(t.Context(), server(t, forbidden("namespaces"), openstack(), &cluster, namespace), "https://m", noon())
	g.Expect(err).NotTo(HaveOccurred(), "no FleetMigration selects by Namespaces")
	g.Expect(v.plan.Migrations[0].Clusters.Total).To(BeEquivalentTo(1))

	for team, want := range map[string]int{"a": 1, "b": 0} {
		fm := openstack(func(fm *ucv1.FleetMigration) { fm.Spec.NamespaceSelector = selecting("team", team) })
		v, err := look(t.Context(), server(t, nil, fm, &cluster, namespace), "https://m", noon())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(v.plan.Migrations[0].Clusters.Total).To(BeEquivalentTo(want), team)
	}
}

// TestFrames: what cannot be read for a moment is said in the place of what could.
func TestFrames(t *testing.T) {
	g := NewWithT(t)
	o := &statusOptions{options: options{output: "text"}}
	report := func(v *view) (printer, error) { return newStatusReport(v, "openstack") }
	text, err := o.frame(t.Context(), server(t, nil, openstack()), "https://m", plain(), report)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(HavePrefix("openstack  "))
	text, err = o.frame(t.Context(), server(t, forbidden("clusters"), openstack()), "https://m", plain(), report)
	g.Expect(err).To(HaveOccurred())
	g.Expect(text).To(HavePrefix("Error: list the Clusters"))
	text, err = o.frame(t.Context(), server(t, nil), "https://m", plain(), report)
	g.Expect(err).To(HaveOccurred())
	g.Expect(text).To(HavePrefix("Error: FleetMigration openstack does not exist"))
}

// TestCommands: each has its arguments, and says which formats it has.
func TestCommands(t *testing.T) {
	g := NewWithT(t)
	names := []string{}
	for _, command := range Command().Commands() {
		names = append(names, command.Name())
		g.Expect(command.Flags().Lookup("output")).NotTo(BeNil(), command.Name())
		g.Expect(command.Long).NotTo(BeEmpty(), command.Name())
	}
	g.Expect(names).To(ConsistOf("status", "why", "plan", "gate", "failures"))
}
