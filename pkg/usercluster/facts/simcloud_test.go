package facts

import (
	"context"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/clouds/simcloud"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/addons"
)

func renderSimcloud(t *testing.T) manifest.Addons {
	rendered, err := simcloud.Profile{}.Render(manifest.RenderInput{
		Version: "1.30.14", Inherited: ucv1.InheritedConfiguration{ClusterName: "a"}, ClusterUID: "a",
		CloudConfig: map[string][]byte{"endpoint": []byte("http://192.0.2.1"), "cluster": []byte("a"), "token": []byte("a")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// dryRuns gives the fake client what it lacks, server-side apply as a dry run, and counts them.
func dryRuns(count *atomic.Int32) interceptor.Funcs {
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			options := (&client.PatchOptions{}).ApplyOptions(opts)
			if len(options.DryRun) == 0 {
				return c.Patch(ctx, obj, patch, opts...)
			}
			count.Add(1)
			builder := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields()
			live := &unstructured.Unstructured{}
			live.SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
			if err := c.Get(ctx, client.ObjectKeyFromObject(obj), live); err == nil {
				builder = builder.WithObjects(live)
			}
			return builder.Build().Patch(ctx, obj, patch, client.ForceOwnership, client.FieldOwner(options.FieldManager))
		},
	}
}

// applied is a reader of a user cluster to which both sets are applied, and the installer that did it.
func applied(t *testing.T, count *atomic.Int32, objects ...client.Object) (*Reader, *addons.Installer) {
	g, clk := NewWithT(t), clocktesting.NewFakeClock(start)
	options, sets := optionsOf(fakeClient(dryRuns(count), objects...), clk), renderSimcloud(t)
	reader := New(options)
	installer := addons.New(addons.Options{
		Client: options.Client, Clock: clk, Watches: options.Watches, Leases: options.Leases, Nodes: reader.Nodes,
	})
	g.Expect(installer.Apply(t.Context(), sets.CCM)).To(Succeed())
	g.Expect(installer.Apply(t.Context(), sets.CSI)).To(Succeed())
	return reader, installer
}
