package facts

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/machines/machinecontroller"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func optionsOf(c client.Client, clk *clocktesting.FakeClock) Options {
	watching := watches.New(watches.Clients{}, func() {}, logr.Discard())
	return Options{
		Client: c, Clock: clk, Log: logr.Discard(), Watches: watching,
		Leases:   leases.New(leases.Options{Client: c, Clock: clk, Watches: watching}),
		Machines: machinecontroller.New(c, clk, watching), Rights: machinecontroller.Rights(),
	}
}

func fakeClient(faults interceptor.Funcs, objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().
		WithObjects(objects...).WithInterceptorFuncs(faults).Build()
}

// readerWith is a reader of a user cluster with the given objects and faults.
func readerWith(faults interceptor.Funcs, objects ...client.Object) (*Reader, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	return New(optionsOf(fakeClient(faults, objects...), clk)), clk
}

func preflightWith(faults interceptor.Funcs, objects ...client.Object) (*Preflight, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	options := optionsOf(fakeClient(faults, objects...), clk)
	return NewPreflight(options, New(options)), clk
}

func othersWith(faults interceptor.Funcs, objects ...client.Object) (*Others, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	return NewOthers(optionsOf(fakeClient(faults, objects...), clk)), clk
}

// networkOf is the way to a server.
func networkOf(t *testing.T, server *httptest.Server) *Network {
	t.Helper()
	config := &rest.Config{Host: server.URL}
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	probe, err := rest.UnversionedRESTClientForConfigAndClient(config, server.Client())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return &Network{HTTP: server.Client(), Probe: probe}
}

// failing makes every read end with the error.
func failing(err error) interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return err
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return err
		},
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return err },
	}
}
