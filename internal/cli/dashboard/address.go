package dashboard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// loopback is an address of this machine alone. A name is looked up here and never again, so that it cannot lead elsewhere later.
func loopback(ctx context.Context, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("--address is %q; it has to be HOST:PORT, such as 127.0.0.1:0", address)
	}
	var addresses []netip.Addr
	if host == "localhost" {
		addresses, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	} else {
		addresses = make([]netip.Addr, 1)
		addresses[0], err = netip.ParseAddr(host)
	}
	if err != nil || len(addresses) == 0 || !allLoopback(addresses) {
		return "", fmt.Errorf("--address is %q, which other machines may reach; the dashboard has your rights, so it listens on "+
			"loopback only. To see it from another machine, forward its port by SSH: ssh -L PORT:127.0.0.1:PORT THIS_MACHINE", address)
	}
	return net.JoinHostPort(addresses[0].Unmap().String(), port), nil
}

func allLoopback(addresses []netip.Addr) bool {
	for _, address := range addresses {
		if !address.Unmap().IsLoopback() {
			return false
		}
	}
	return true
}
