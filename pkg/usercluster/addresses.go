package usercluster

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// addressGuard judges each address at the moment of dialing, when a name was resolved: a name that means another address a moment
// later passes nothing.
type addressGuard struct {
	// allowed are exceptions from what the kinds of addresses forbid.
	allowed []net.IPNet
	// management is the management cluster's API server; nil where there is none to protect.
	management *ManagementServer
	resolve    func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer is for what else a tenant may have the manager connect to, such as the API of a cloud: by the rules for user clusters.
func Dialer(allow Allow, management *ManagementServer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return newGuard(allow, management).dial
}

func newGuard(allow Allow, management *ManagementServer) *addressGuard {
	return &addressGuard{allowed: allow.Addresses, management: management, resolve: net.DefaultResolver.LookupNetIP}
}

func (g *addressGuard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, ControlContext: g.control}
	return dialer.DialContext(ctx, network, address)
}

// control is asked by the dialer about every address that it is about to connect to.
func (g *addressGuard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &reads.AddressError{What: "not one of TCP"}
	}
	ip := plain(target.Addr())
	forms := []netip.Addr{ip, embedded(ip)}
	if err := g.isManagement(ctx, forms, target.Port()); err != nil {
		return err
	}
	if slices.ContainsFunc(g.allowed, func(network net.IPNet) bool { return network.Contains(ip.AsSlice()) }) {
		return nil
	}
	for _, form := range forms {
		if what := forbidden(form); what != "" {
			return &reads.AddressError{What: what}
		}
	}
	return nil
}

// forbidden names the kind of an address that no user cluster has; empty for all others. 100.100.100.200 is the metadata service
// of Alibaba Cloud, fd00:ec2::254 that of AWS, fd20:ce::254 that of Google Cloud; the others' are link-local.
func forbidden(ip netip.Addr) string {
	switch {
	case !ip.IsValid():
		return ""
	case ip.IsUnspecified(), ip.Is4() && ip.As4()[0] == 0:
		return "unspecified"
	case ip.IsLoopback():
		return "the manager's own loopback"
	case ip.IsLinkLocalUnicast():
		return "link-local"
	case ip.IsMulticast(), ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "multicast or broadcast"
	case slices.Contains([]string{"100.100.100.200", "fd00:ec2::254", "fd20:ce::254"}, ip.String()):
		return "a metadata service of a cloud"
	}
	return ""
}

// embedded is the IPv4 address that a gateway reads from one of NAT64 (RFC 6052), of 6to4 (RFC 3056), or of the old form
// ::a.b.c.d; the zero value for all others.
func embedded(ip netip.Addr) netip.Addr {
	if !ip.Is6() {
		return netip.Addr{}
	}
	bytes := ip.As16()
	for _, form := range []struct {
		prefix string
		at     int
	}{{"64:ff9b::/96", 12}, {"2002::/16", 2}, {"::/96", 12}} {
		if netip.MustParsePrefix(form.prefix).Contains(ip) {
			return netip.AddrFrom4([4]byte(bytes[form.at : form.at+4]))
		}
	}
	return netip.Addr{}
}
