package usercluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// MaxManagementEndpoints is more than one cluster has of API servers: what is kept of a list has a bound.
const MaxManagementEndpoints = 100

// ManagementServer is where the API server of the management cluster is. It is never dialed for a user cluster: a tenant would
// act there with the manager's place in the network.
type ManagementServer struct {
	// names are URLs as a rest.Config has them, or HOST:PORT. What they mean is asked whenever something is dialed.
	names []string
	// endpoints are what stands behind the Service by which a pod knows the API server: a tenant may name them without it.
	endpoints atomic.Pointer[[]netip.AddrPort]
}

// NewManagementServer knows an API server by its names.
func NewManagementServer(names ...string) *ManagementServer { return &ManagementServer{names: names} }

// SetEndpoints takes the place of what was set before, and returns how many were too many to be kept.
func (m *ManagementServer) SetEndpoints(endpoints []netip.AddrPort) (left int) {
	kept := make([]netip.AddrPort, 0, len(endpoints))
	for _, endpoint := range endpoints {
		kept = append(kept, netip.AddrPortFrom(plain(endpoint.Addr()), endpoint.Port()))
	}
	slices.SortFunc(kept, netip.AddrPort.Compare)
	kept = slices.Compact(kept)
	left = max(0, len(kept)-MaxManagementEndpoints)
	kept = slices.Clone(kept[:len(kept)-left])
	m.endpoints.Store(&kept)
	return left
}

// Endpoints are those that are kept.
func (m *ManagementServer) Endpoints() []netip.AddrPort {
	if kept := m.endpoints.Load(); kept != nil {
		return *kept
	}
	return nil
}

// isManagement compares address and port: many clusters of one seed share an address.
func (g *addressGuard) isManagement(ctx context.Context, forms []netip.Addr, port uint16) error {
	if g.management == nil {
		return nil
	}
	if slices.ContainsFunc(g.management.Endpoints(), func(endpoint netip.AddrPort) bool {
		return endpoint.Port() == port && slices.Contains(forms, endpoint.Addr())
	}) {
		return errManagement()
	}
	for _, name := range g.management.names {
		if err := g.isNamed(ctx, name, forms, port); err != nil {
			return err
		}
	}
	return nil
}

// isNamed looks a name up, as others have to when they go there: what it means may change.
func (g *addressGuard) isNamed(ctx context.Context, name string, forms []netip.Addr, port uint16) error {
	server, _, err := rest.DefaultServerURL(name, "", schema.GroupVersion{}, true)
	if err != nil {
		return errors.New("the address of the management cluster's API server is not understood")
	}
	ownPort := cmp.Or(server.Port(), map[string]string{"http": "80"}[server.Scheme], "443")
	if ownPort != strconv.Itoa(int(port)) {
		return nil
	}
	own, err := g.resolve(ctx, "ip", server.Hostname())
	if err != nil {
		return fmt.Errorf("the address of the management cluster's API server cannot be looked up: %w", err)
	}
	if slices.ContainsFunc(own, func(ip netip.Addr) bool { return slices.Contains(forms, plain(ip)) }) {
		return errManagement()
	}
	return nil
}

func errManagement() error {
	return &reads.AddressError{What: "that of the management cluster's API server"}
}

// plain is the form in which addresses are compared.
func plain(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }
