package addons

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/leases"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/watches"
)

// secretToken is in no message.
const secretToken = "hunter2-secret-token"

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// installerWith is one of a user cluster with the given objects and faults.
func installerWith(faults interceptor.Funcs, objects ...client.Object) (*Installer, *clocktesting.FakeClock) {
	clk := clocktesting.NewFakeClock(start)
	c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().
		WithObjects(objects...).WithInterceptorFuncs(faults).Build()
	watching := watches.New(watches.Clients{}, func() {}, logr.Discard())
	return New(Options{
		Client: c, Clock: clk, Watches: watching, Nodes: nodesOf(c),
		Leases: leases.New(leases.Options{Client: c, Clock: clk, Watches: watching}),
	}), clk
}

// nodesOf a user cluster, with what its CSINodes say.
func nodesOf(c client.Reader) func(context.Context) observation.Observed[[]observation.Node] {
	return func(ctx context.Context) observation.Observed[[]observation.Node] {
		nodes, registered := &corev1.NodeList{}, &storagev1.CSINodeList{}
		for _, list := range []client.ObjectList{nodes, registered} {
			if err := c.List(ctx, list); err != nil {
				return observation.Unknown[[]observation.Node](err.Error())
			}
		}
		drivers := map[string][]string{}
		for _, node := range registered.Items {
			for _, driver := range node.Spec.Drivers {
				drivers[node.Name] = append(drivers[node.Name], driver.Name)
			}
		}
		seen := []observation.Node{}
		for _, node := range nodes.Items {
			seen = append(seen, observation.Node{Name: node.Name, CSIDrivers: drivers[node.Name]})
		}
		return observation.Known(seen)
	}
}
