package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/go-logr/logr"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ccm-migration/ccm-migration-controller/internal/cli/management"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster"
)

// apiServerService is in namespace default of every cluster. Its endpoints are the API servers themselves.
const apiServerService = "kubernetes"

// managementEndpoints keeps the endpoints of the management cluster's API server current. It has a watch of its own: one of the
// manager's cache that is refused would keep the manager from starting.
type managementEndpoints struct {
	client kubernetes.Interface
	server *usercluster.ManagementServer
	log    logr.Logger
}

// protectManagementServer returns what is never dialed for a user cluster: the API server as the manager reaches it, as it is
// named by a flag, and as its endpoints say. They are read before anything is dialed.
func protectManagementServer(
	ctx context.Context,
	mgr ctrl.Manager,
	named []string,
	log logr.Logger,
) (*usercluster.ManagementServer, error) {
	client, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	server := usercluster.NewManagementServer(append([]string{mgr.GetConfig().Host}, named...)...)
	endpoints := &managementEndpoints{client: client, server: server, log: log}
	if readable, err := endpoints.read(ctx); err != nil || !readable {
		return server, err
	}
	return server, mgr.Add(endpoints)
}

// read looks once. That they may not be read is no failure, but it is not that there are none either, so it is said.
func (e *managementEndpoints) read(ctx context.Context) (readable bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, management.Timeout)
	defer cancel()
	list, err := e.list(ctx, metav1.ListOptions{Limit: usercluster.MaxManagementEndpoints})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		e.log.Info("The endpoints of the management cluster's API server cannot be read, so only the addresses that the manager was "+
			"given are kept from "+
			"kubeconfigs of tenants. Apply config/api-server-endpoints and restart the manager, or name them with --"+
			managementServerAddresses, "error", err.Error())
		return false, nil
	case err != nil:
		return false, fmt.Errorf(
			"read the EndpointSlices of Service default/%s, which no user cluster may name: %w",
			apiServerService,
			err,
		)
	}
	slices := make([]*discoveryv1.EndpointSlice, 0, len(list.Items))
	for i := range list.Items {
		slices = append(slices, &list.Items[i])
	}
	e.take(slices)
	return true, nil
}

func (e *managementEndpoints) list(ctx context.Context, options metav1.ListOptions) (*discoveryv1.EndpointSliceList, error) {
	options.LabelSelector = ofAPIServer()
	return e.client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).List(ctx, options)
}

func (e *managementEndpoints) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.LabelSelector = ofAPIServer()
	return e.client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).Watch(ctx, options)
}

func ofAPIServer() string {
	return labels.Set{discoveryv1.LabelServiceName: apiServerService}.String()
}

// Start implements manager.Runnable.
func (e *managementEndpoints) Start(ctx context.Context) error {
	var store cache.Store
	current := func() {
		var slices []*discoveryv1.EndpointSlice
		for _, object := range store.List() {
			slices = append(slices, object.(*discoveryv1.EndpointSlice))
		}
		e.take(slices)
	}
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				return e.list(ctx, options)
			},
			WatchFuncWithContext: e.watch,
		}, e.client),
		ObjectType: &discoveryv1.EndpointSlice{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { current() }, UpdateFunc: func(any, any) { current() }, DeleteFunc: func(any) { current() },
		},
	})
	controller.RunWithContext(ctx)
	return nil
}

// NeedLeaderElection says that a manager that begins to work knows them already.
func (e *managementEndpoints) NeedLeaderElection() bool { return false }

func (e *managementEndpoints) take(slices []*discoveryv1.EndpointSlice) {
	if left := e.server.SetEndpoints(endpointsOf(slices)); left > 0 {
		e.log.Error(nil, "The management cluster's API server has more endpoints than are kept from kubeconfigs of tenants: look at "+
			"the "+
			"EndpointSlices of Service default/"+apiServerService, "kept", usercluster.MaxManagementEndpoints, "left", left)
	}
}

// endpointsOf are those that are not ready, too: they may be in a moment.
func endpointsOf(slices []*discoveryv1.EndpointSlice) []netip.AddrPort {
	var found []netip.AddrPort
	for _, slice := range slices {
		for _, port := range slice.Ports {
			if port.Port == nil {
				continue // An API server publishes no such thing.
			}
			for _, endpoint := range slice.Endpoints {
				found = append(found, addressesOf(endpoint, *port.Port)...)
			}
		}
	}
	return found
}

func addressesOf(endpoint discoveryv1.Endpoint, port int32) []netip.AddrPort {
	var found []netip.AddrPort
	for _, text := range endpoint.Addresses {
		if at, err := netip.ParseAddrPort(net.JoinHostPort(text, strconv.Itoa(int(port)))); err == nil {
			found = append(found, at)
		}
	}
	return found
}

func validateServerAddresses(addresses []string) error {
	var errs []error
	for _, address := range addresses {
		if err := validateServerAddress(address); err != nil {
			errs = append(errs, fmt.Errorf("--%s has %q, which is not HOST:PORT: %w", managementServerAddresses, address, err))
		}
	}
	return errors.Join(errs...)
}

// validateServerAddress wants the port: what is judged is both.
func validateServerAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return err
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return errors.New("the port is no number from 1 to 65535")
	}
	if host == "" {
		return errors.New("the host is empty")
	}
	return nil
}
