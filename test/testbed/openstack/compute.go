package openstack

import (
	"net/http"
	"regexp"
)

const nova = "/nova/v2.1/"

// Server of Nova.
type Server struct {
	ID, Name, Address, Zone string
	Stopped                 bool
}

// ServeFrom has Nova ask for its servers where they are kept.
func (c *Cloud) ServeFrom(servers func() []Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers = servers
}

func (s Server) object() object {
	status, power := active, 1
	if s.Stopped {
		status, power = "SHUTOFF", 4
	}
	return object{
		"id": s.ID, "name": s.Name, "status": status, "tenant_id": Project, "OS-EXT-STS:power_state": power,
		"OS-EXT-STS:vm_state": "active", "OS-EXT-AZ:availability_zone": s.Zone, "metadata": object{},
		"flavor": object{"id": "flavor-1", "original_name": "small"}, "accessIPv4": "", "accessIPv6": "",
		"addresses": object{networkName: []object{{"addr": s.Address, "version": 4, "OS-EXT-IPS:type": "fixed"}}},
	}
}

func (c *Cloud) serveNova(mux *http.ServeMux) {
	mux.HandleFunc("GET "+nova+"servers/detail", func(w http.ResponseWriter, r *http.Request) {
		name, err := regexp.Compile(r.URL.Query().Get("name"))
		if err != nil {
			write(w, http.StatusBadRequest, nil)
			return
		}
		list := []object{}
		for _, server := range c.allServers() {
			if name.MatchString(server.Name) {
				list = append(list, server.object())
			}
		}
		write(w, http.StatusOK, map[string]any{"servers": list})
	})
	mux.HandleFunc("GET "+nova+"servers/{id}", c.withServer(func(s Server) any {
		return map[string]any{"server": s.object()}
	}))
	mux.HandleFunc("GET "+nova+"servers/{id}/os-interface", c.withServer(func(s Server) any {
		return map[string]any{"interfaceAttachments": []object{{
			"port_state": active, "net_id": network, "port_id": "port-of-" + s.ID, "mac_addr": "fa:16:3e:00:00:01",
			"fixed_ips": []object{{"subnet_id": Subnet, "ip_address": s.Address}},
		}}}
	}))
	mux.HandleFunc("GET "+nova+"flavors/{id}", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, map[string]any{"flavor": object{"id": r.PathValue("id"), "name": "small"}})
	})
}

func (c *Cloud) withServer(answer func(Server) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, server := range c.allServers() {
			if server.ID == r.PathValue("id") {
				write(w, http.StatusOK, answer(server))
				return
			}
		}
		write(w, http.StatusNotFound, map[string]any{"itemNotFound": object{"message": "Instance could not be found."}})
	}
}

func (c *Cloud) allServers() []Server {
	c.mu.Lock()
	servers := c.servers
	c.mu.Unlock()
	if servers == nil {
		return nil
	}
	return servers()
}
