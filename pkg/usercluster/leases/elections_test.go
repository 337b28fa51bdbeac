package leases

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// electionsWith are those of a user cluster with the given objects and faults.
func electionsWith(faults interceptor.Funcs, objects ...client.Object) (*Elections, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().
		WithObjects(objects...).WithInterceptorFuncs(faults).Build()
	return New(Options{Client: c, Clock: clk, Watches: watches.New(watches.Clients{}, func() {}, logr.Discard())}), clk
}

// failing makes every list end with the error.
func failing(err error) interceptor.Funcs {
	return interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return err
	}}
}
