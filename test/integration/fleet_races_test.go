package integration_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// An apply makes what is not there, and changes what has the name: neither is the Cluster that was let go.
func TestAClusterThatGoesMeanwhileIsNotAdmitted(t *testing.T) {
	for name, madeAgain := range map[string]bool{"it is gone": false, "another one has its name": true} {
		t.Run(name, func(t *testing.T) {
			w := newFleetWorld(t)
			off := func(c *ucv1.Cluster) { c.Spec.Features = ucv1.FeaturesSpec{} }
			w.cluster("a", off)
			of := w.migration("fm", func(fm *ucv1.FleetMigration) { fm.Spec.Enablement = ucv1.EnablementOnAdmission })
			base, err := client.NewWithWatch(suite.management.as("admin"), client.Options{Scheme: suite.scheme})
			w.g.Expect(err).NotTo(HaveOccurred())
			meanwhile := func() {
				w.g.Expect(suite.client.Delete(t.Context(), w.get("a"))).To(Succeed())
				if madeAgain {
					w.cluster("a", off)
				}
			}
			w.restart(interceptor.NewClient(base, interceptor.Funcs{
				SubResourceUpdate: func(
					ctx context.Context, c client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption,
				) error {
					meanwhile()
					return c.SubResource(sub).Update(ctx, object, options...)
				},
			}))
			w.pass()
			w.g.Expect(w.fm(of).Status.Admitting).To(HaveLen(1))
			left := &ucv1.Cluster{}
			err = suite.client.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "a"}, left)
			if !madeAgain {
				w.g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
				return
			}
			w.g.Expect(err).NotTo(HaveOccurred())
			w.g.Expect(left.Status.Admission).To(BeNil())
			w.g.Expect(left.ExternalCloudProvider()).To(BeFalse())
		})
	}
}

// A leader that lost its Lease and has not noticed writes what it decided before: the new one has decided something else meanwhile.
func TestALeaderThatWasReplacedWhileAdmitting(t *testing.T) {
	for name, stalls := range map[string]func(meanwhile func()) interceptor.Funcs{
		"before it reports": func(meanwhile func()) interceptor.Funcs {
			return interceptor.Funcs{SubResourceUpdate: func(
				ctx context.Context, c client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption,
			) error {
				meanwhile()
				return c.SubResource(sub).Update(ctx, object, options...)
			}}
		},
		"between the report and the admission": func(meanwhile func()) interceptor.Funcs {
			return interceptor.Funcs{SubResourceApply: func(
				ctx context.Context, c client.Client, sub string, object runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
			) error {
				meanwhile()
				return c.SubResource(sub).Apply(ctx, object, options...)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFleetWorld(t)
			for _, name := range []string{"a", "b", "c"} {
				w.cluster(name, asItIs)
			}
			w.migration("fm", plainFleet)
			base, err := client.NewWithWatch(suite.management.as("admin"), client.Options{Scheme: suite.scheme})
			w.g.Expect(err).NotTo(HaveOccurred())
			successor, replaced := w.reconciler, false
			w.restart(interceptor.NewClient(base, stalls(func() {
				if replaced {
					return
				}
				replaced = true
				w.says("a", func(c *ucv1.Cluster) { c.Status.Nodes.Total = 99 }) // Now b is the smaller one.
				for range 3 {
					_, err := successor.Reconcile(t.Context(), ctrl.Request{})
					w.g.Expect(err).NotTo(HaveOccurred())
				}
			})))
			for range 3 {
				w.pass()
			}
			w.g.Expect(replaced).To(BeTrue())
			admitted := []string{}
			for _, name := range []string{"a", "b", "c"} {
				if w.admission(name).State == ucv1.AdmissionAdmitted {
					admitted = append(admitted, name)
				}
			}
			w.g.Expect(admitted).To(HaveLen(1), "one may migrate at once, whoever leads")
		})
	}
}
