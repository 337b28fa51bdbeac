package machinecontroller

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func TestAWriteThatChangesNothingIsTried(t *testing.T) {
	resource := schema.GroupResource{Group: "cluster.k8s.io", Resource: "machinedeployments"}
	denied := apierrors.NewForbidden(resource, "md", errors.New(`admission webhook "m" denied the request: validation failed`))
	for name, test := range map[string]struct {
		refuses error
		changes func(*unstructured.Unstructured)
		want    observation.Observed[preflight.Write]
	}{
		"nothing comes of it": {want: observation.Known(preflight.Write{})},
		"a webhook refuses it": {refuses: denied, want: observation.Known(preflight.Write{
			Refused: "webhook m",
		})},
		"a webhook cannot be tried": {
			refuses: apierrors.NewBadRequest(`admission webhook "m" does not support dry run`), want: observation.Absent[preflight.Write](),
		},
		"no one answers": {
			refuses: context.DeadlineExceeded,
			want: observation.Unknown[preflight.Write]("trying a write that changes nothing: the API server of the user cluster does " +
				"not answer in time"),
		},
		"a webhook adds a field of the cloud": {
			changes: func(answer *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(answer.Object, "", "spec", "template", "spec", "providerSpec", "value", "network")
			},
			want: observation.Known(preflight.Write{Rewritten: true}),
		},
		"a webhook adds an empty field elsewhere": {
			changes: func(answer *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(answer.Object, "", "spec", "template", "spec", "providerID")
			},
			want: observation.Known(preflight.Write{}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			patch := func(
				ctx context.Context, c client.WithWatch, object client.Object, _ client.Patch, options ...client.PatchOption,
			) error {
				all := &client.PatchOptions{}
				all.ApplyOptions(options)
				g.Expect(all.DryRun).To(Equal([]string{"All"}))
				if test.refuses != nil {
					return test.refuses
				}
				// The fake client answers a dry run with nothing.
				err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
				if test.changes != nil {
					test.changes(object.(*unstructured.Unstructured))
				}
				return err
			}
			s := adapterWith(interceptor.Funcs{Patch: patch}, machineObject(t, "MachineDeployment", "md",
				"spec: {replicas: 1, template: {spec: {providerSpec: {value: {region: r}}}}}"))
			pools := s.Pools(t.Context()).Value()
			g.Expect(pools).To(HaveLen(1))
			g.Expect(pools[0].Write).To(Equal(test.want))
		})
	}
}
