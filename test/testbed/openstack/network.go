package openstack

import (
	"fmt"
	"net/http"
)

// Kinds of Neutron.
const (
	neutron     = "/neutron/v2.0/"
	ports       = "ports"
	floatingIPs = "floatingips"
)

// The one network with its subnet, and the network outside, which has the floating IPs.
const (
	network         = "0b5e55ed-0000-4000-8000-00000000000a"
	Subnet          = "0b5e55ed-0000-4000-8000-00000000000b"
	ExternalNetwork = "0b5e55ed-0000-4000-8000-00000000000c"
)

func (c *Cloud) neutronKinds() []kind {
	c.objects["networks"] = []object{
		{"id": network, "name": networkName, "subnets": []string{Subnet}, "router:external": false, "project_id": Project},
		{"id": ExternalNetwork, "name": "public", "subnets": []string{}, "router:external": true},
	}
	c.objects["subnets"] = []object{{
		"id": Subnet, "name": "nodes", "network_id": network, "cidr": "10.0.0.0/16", "ip_version": 4, "project_id": Project,
	}}
	return []kind{
		{path: neutron + "networks", one: "network", many: "networks"},
		{path: neutron + "subnets", one: "subnet", many: "subnets"},
		{path: neutron + ports, one: "port", many: ports},
		{
			path: neutron + floatingIPs, one: "floatingip", many: floatingIPs,
			made: func(c *Cloud, made object) int {
				made["floating_ip_address"], made["status"] = c.address("203.0.113."), active
				return 0
			},
		},
	}
}

// networkName is what Nova calls the addresses of servers by.
const networkName = "nodes"

func (c *Cloud) address(prefix string) string {
	c.addresses++
	return fmt.Sprint(prefix, c.addresses)
}

// FloatingIPs by the ID of the port that they lead to.
func (c *Cloud) FloatingIPs() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]string{}
	for _, ip := range c.objects[floatingIPs] {
		found[ip.text("port_id")] = ip.text("floating_ip_address")
	}
	return found
}

func noExtensions(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{"extensions": []object{}})
}
