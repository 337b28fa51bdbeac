package machinecontroller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

var _ machines.API = &Adapter{}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// adapterWith is an adapter of a user cluster with the given objects and faults.
func adapterWith(faults interceptor.Funcs, objects ...client.Object) *Adapter {
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().
		WithObjects(objects...).WithInterceptorFuncs(faults).Build()
	return New(c, clocktesting.NewFakeClock(start), watches.New(watches.Clients{}, func() {}, logr.Discard()))
}

// failing makes every read end with the error.
func failing(err error) interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
	}
}

func TestOneThatRefusesAChangeKeepsNoOtherFromIt(t *testing.T) {
	g, refused := NewWithT(t), errors.New("denied")
	var changed []string
	err := each([]observation.Ref{{Name: "a"}, {Name: "b"}}, func(ref observation.Ref) error {
		if ref.Name == "a" {
			return refused
		}
		changed = append(changed, ref.Name)
		return nil
	})
	g.Expect(err).To(MatchError(refused))
	g.Expect(changed).To(Equal([]string{"b"}))
	g.Expect(each([]observation.Ref{{Name: "b"}}, func(observation.Ref) error { return nil })).To(Succeed())
}
