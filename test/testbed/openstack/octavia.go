package openstack

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Provisioning statuses of a load balancer.
const (
	active  = "ACTIVE"
	pending = "PENDING_UPDATE"
)

// Kinds of Octavia.
const (
	balancers = "loadbalancers"
	listeners = "listeners"
	pools     = "pools"
	monitors  = "healthmonitors"
	members   = "members"
)

// LoadBalancer of Octavia, as its API spells it.
type LoadBalancer struct {
	ID                 string   `json:"id"`
	Name               string   `json:"name"`
	ProvisioningStatus string   `json:"provisioning_status"`
	ProjectID          string   `json:"project_id"`
	Address            string   `json:"vip_address,omitempty"`
	Port               string   `json:"vip_port_id,omitempty"`
	Tags               []string `json:"tags,omitempty"`
	// Members are the addresses behind its listeners.
	Members []string `json:"-"`
}

// Set its load balancers.
func (c *Cloud) Set(set ...LoadBalancer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[balancers] = nil
	for _, balancer := range set {
		text, _ := json.Marshal(balancer)
		made := object{}
		_ = json.Unmarshal(text, &made)
		c.objects[balancers] = append(c.objects[balancers], made)
	}
}

// LoadBalancers that it has.
func (c *Cloud) LoadBalancers() []LoadBalancer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []LoadBalancer
	for _, o := range c.look(balancers) {
		text, _ := json.Marshal(o)
		balancer := LoadBalancer{}
		_ = json.Unmarshal(text, &balancer)
		for _, member := range c.objects[members] {
			if c.balancerOf(members, member) == balancer.ID {
				balancer.Members = append(balancer.Members, member.text("address"))
			}
		}
		slices.Sort(balancer.Members)
		all = append(all, balancer)
	}
	return all
}

// ListenerPorts are those on which its load balancers listen.
func (c *Cloud) ListenerPorts() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ports []int
	for _, listener := range c.look(listeners) {
		port, _ := listener["protocol_port"].(float64)
		ports = append(ports, int(port))
	}
	return ports
}

// Names of its load balancers, by ID.
func (c *Cloud) Names() map[string]string {
	names := map[string]string{}
	for _, balancer := range c.LoadBalancers() {
		names[balancer.ID] = balancer.Name
	}
	return names
}

// SettleAfter lets the cloud end a change of a load balancer by itself; else that is when the load balancers are set.
func (c *Cloud) SettleAfter(busy time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = busy
}

func (c *Cloud) settle() {
	for id, since := range c.changed {
		if c.busy > 0 && time.Since(since) >= c.busy {
			delete(c.changed, id)
			for _, o := range c.objects[balancers] {
				if o.text("id") == id {
					o["provisioning_status"] = active
				}
			}
		}
	}
}

// change a load balancer or what is behind it: Octavia answers 409 while it is busy with that one.
func (c *Cloud) change(id string) int {
	balancer := c.find(balancers, id)
	switch {
	case balancer == nil:
		return http.StatusNotFound
	case balancer["provisioning_status"] != active:
		return http.StatusConflict
	}
	balancer["provisioning_status"], c.changed[id] = pending, time.Now()
	return 0
}

// balancerOf a part of one.
func (c *Cloud) balancerOf(many string, part object) string {
	switch many {
	case members:
		return c.balancerOf(pools, c.find(pools, part.text("pool")))
	case monitors:
		return c.balancerOf(pools, c.find(pools, part.text("pool_id")))
	}
	return part.text("loadbalancer_id")
}

func (c *Cloud) octaviaKinds() []kind {
	return []kind{
		{
			path: octavia + balancers, one: "loadbalancer", many: balancers,
			made: (*Cloud).makeBalancer, removed: (*Cloud).removeBalancer,
			changed: func(c *Cloud, old, _ object) int { return c.change(old.text("id")) },
		},
		c.part(listeners, "listener", (*Cloud).makeListener),
		c.part(pools, "pool", (*Cloud).makePool),
		c.part(monitors, "healthmonitor", (*Cloud).makeMonitor),
	}
}

// octavia is where its API is.
const octavia = "/octavia/v2.0/lbaas/"

// part of a load balancer, which changes with it.
func (c *Cloud) part(many, one string, made func(*Cloud, object)) kind {
	changes := func(c *Cloud, part object) int { return c.change(c.balancerOf(many, part)) }
	return kind{
		path: octavia + many, one: one, many: many, removed: changes,
		changed: func(c *Cloud, old, _ object) int { return changes(c, old) },
		made: func(c *Cloud, part object) int {
			if many == pools && part.text("loadbalancer_id") == "" {
				part["loadbalancer_id"] = c.find(listeners, part.text("listener_id")).text("loadbalancer_id")
			}
			if status := changes(c, part); status != 0 {
				return status
			}
			made(c, part)
			return 0
		},
	}
}

// WithoutTags makes Octavia one of before its API 2.5, which has no tags.
// https://docs.openstack.org/api-ref/load-balancer/v2/ (API versions)
func (c *Cloud) WithoutTags() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.old = true
}

// makeBalancer with what a client asks for at once, as Octavia does since its API 2.0 ("fully populated").
func (c *Cloud) makeBalancer(made object) int {
	id := made.text("id")
	port := object{"network_id": network, "device_owner": "Octavia", "device_id": "lb-" + id, "name": "octavia-lb-" + id}
	address := c.address("10.0.200.")
	port["fixed_ips"] = []object{{"ip_address": address, "subnet_id": Subnet}}
	if status := c.add(kind{many: ports}, port); status != 0 {
		return status
	}
	made["vip_address"], made["vip_port_id"], made["vip_subnet_id"] = address, port["id"], Subnet
	made["vip_network_id"], made["provider"], made["operating_status"] = network, "amphora", "ONLINE"
	switch {
	case c.old && made["tags"] != nil:
		return http.StatusBadRequest
	case !c.old && made["tags"] == nil:
		made["tags"] = []string{}
	}
	populated := made["listeners"]
	made["listeners"], made["pools"] = []object{}, []object{}
	made["provisioning_status"], c.changed[id] = "PENDING_CREATE", time.Now()
	for _, listener := range parts(populated) {
		pool := parts([]any{listener["default_pool"]})
		delete(listener, "default_pool")
		listener["loadbalancer_id"] = id
		c.keep(listeners, listener)
		c.makeListener(listener)
		for _, made := range pool {
			c.populate(id, listener, made)
		}
	}
	return 0
}

// populate a listener that is made with its pool.
func (c *Cloud) populate(balancer string, listener, pool object) {
	behind, monitor := parts(pool["members"]), parts([]any{pool["healthmonitor"]})
	delete(pool, "members")
	delete(pool, "healthmonitor")
	pool["loadbalancer_id"], pool["listener_id"] = balancer, listener["id"]
	c.keep(pools, pool)
	c.makePool(pool)
	for _, member := range behind {
		member["pool"] = pool["id"]
		c.keep(members, member)
	}
	for _, made := range monitor {
		made["pool_id"] = pool["id"]
		c.keep(monitors, made)
		c.makeMonitor(made)
	}
}

// keep what needs no leave.
func (c *Cloud) keep(many string, made object) { _ = c.add(kind{many: many}, made) }

// parts of what JSON has, without those that are null.
func parts(value any) []object {
	var all []object
	list, _ := value.([]any)
	for _, item := range list {
		switch part := item.(type) {
		case map[string]any:
			all = append(all, part)
		case object:
			all = append(all, part)
		}
	}
	return all
}

func (c *Cloud) makeListener(made object) {
	made["loadbalancers"] = []object{{"id": made["loadbalancer_id"]}}
	made["provisioning_status"], made["operating_status"], made["connection_limit"] = active, "ONLINE", -1
}

func (c *Cloud) makePool(made object) {
	made["loadbalancers"] = []object{{"id": made["loadbalancer_id"]}}
	made["listeners"], made["provisioning_status"] = []object{}, active
	if listener := c.find(listeners, made.text("listener_id")); listener != nil {
		made["listeners"], listener["default_pool_id"] = []object{{"id": listener["id"]}}, made["id"]
	}
}

func (c *Cloud) makeMonitor(made object) {
	made["pools"], made["provisioning_status"] = []object{{"id": made["pool_id"]}}, active
	c.find(pools, made.text("pool_id"))["healthmonitor_id"] = made["id"]
}

// removeBalancer with all that is behind it; a client that asks for no cascade has removed that before.
func (c *Cloud) removeBalancer(old object) int {
	if old["provisioning_status"] != active {
		return http.StatusConflict
	}
	id := old.text("id")
	for _, many := range []string{members, monitors, pools, listeners} {
		c.remove(many, func(part object) bool { return c.balancerOf(many, part) == id })
	}
	c.remove(ports, func(port object) bool { return port["id"] == old["vip_port_id"] })
	return 0
}

// serveMembers of pools, which have a path of their own and can be set at once.
func (c *Cloud) serveMembers(mux *http.ServeMux) {
	path := octavia + "pools/{pool}/members"
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		list := []object{}
		for _, member := range c.objects[members] {
			if member.text("pool") == r.PathValue("pool") {
				list = append(list, member)
			}
		}
		write(w, http.StatusOK, map[string]any{members: list})
	})
	mux.HandleFunc("POST "+path, c.changeMembers(func(w http.ResponseWriter, r *http.Request, pool string) {
		made, err := read(r, kind{one: "member"})
		if err != nil {
			write(w, http.StatusBadRequest, nil)
			return
		}
		made["pool"], made["provisioning_status"] = pool, active
		c.keep(members, made)
		write(w, http.StatusCreated, map[string]any{"member": made})
	}))
	mux.HandleFunc("PUT "+path, c.changeMembers(func(w http.ResponseWriter, r *http.Request, pool string) {
		var asked map[string][]object
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			write(w, http.StatusBadRequest, nil)
			return
		}
		c.remove(members, func(member object) bool { return member.text("pool") == pool })
		for _, made := range asked[members] {
			made["pool"], made["provisioning_status"] = pool, active
			c.keep(members, made)
		}
		write(w, http.StatusAccepted, nil)
	}))
	mux.HandleFunc("DELETE "+path+"/{member}", c.changeMembers(func(w http.ResponseWriter, r *http.Request, _ string) {
		c.remove(members, func(member object) bool { return member.text("id") == r.PathValue("member") })
		write(w, http.StatusNoContent, nil)
	}))
}

func (c *Cloud) changeMembers(then func(w http.ResponseWriter, r *http.Request, pool string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		pool := c.find(pools, r.PathValue("pool"))
		if status := c.change(pool.text("loadbalancer_id")); status != 0 {
			write(w, status, nil)
			return
		}
		then(w, r, pool.text("id"))
	}
}

// octaviaVersions are asked for before anything else.
func (c *Cloud) octaviaVersions(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	current := "v2.27"
	if c.old {
		current = "v2.4"
	}
	self := []map[string]string{{"rel": "self", "href": c.server.URL + strings.TrimSuffix(octavia, "lbaas/")}}
	write(w, http.StatusOK, map[string]any{"versions": []map[string]any{
		{"id": "v2.0", "status": "SUPPORTED", "links": self}, {"id": current, "status": "CURRENT", "links": self},
	}})
}
