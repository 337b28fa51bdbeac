package simcloud

import (
	"fmt"
	"maps"
	"slices"
)

// tenant is what one cluster has.
type tenant struct {
	token         string
	instances     map[string]Instance
	loadBalancers map[string]LoadBalancer
	routes        map[string]Route
	volumes       map[string]Volume
	// providerID is what instances are called by; nil: simcloud's own form.
	providerID func(Instance) string
}

func newTenant(token string) *tenant {
	return &tenant{
		token:         token,
		instances:     map[string]Instance{},
		loadBalancers: map[string]LoadBalancer{},
		routes:        map[string]Route{},
		volumes:       map[string]Volume{},
	}
}

func sorted[T any](items map[string]T) []T {
	list := make([]T, 0, len(items))
	for _, name := range slices.Sorted(maps.Keys(items)) {
		list = append(list, items[name])
	}
	return list
}

// identity is what the cloud gives a new object.
type identity struct {
	cluster    string
	serial     int
	providerID func(Instance) string
}

func (i identity) id(kind string) string { return fmt.Sprintf("%s-%08d", kind, i.serial) }

// address is within a /16 of which no object gets the first or last number.
func (i identity) address(prefix string) string {
	return fmt.Sprintf("%s.%d.%d", prefix, i.serial/250%250, i.serial%250+1)
}

func (i Instance) created(by identity) Instance {
	i.ID = by.id("i")
	i.ProviderID = "simcloud://" + by.cluster + "/" + i.Name
	if by.providerID != nil {
		i.ProviderID = by.providerID(i)
	}
	if len(i.Addresses) == 0 {
		i.Addresses = []string{by.address("10.96")}
	}
	i.Zone = orDefault(i.Zone, "sim-1a")
	i.Region = orDefault(i.Region, "sim-1")
	i.Type = orDefault(i.Type, "sim.small")
	i.State = orDefault(i.State, Running)
	return i
}

func (l LoadBalancer) created(by identity) LoadBalancer {
	l.ID, l.IP = by.id("lb"), by.address("198.18")
	return l
}

func (l LoadBalancer) replacing(old LoadBalancer) LoadBalancer {
	l.ID, l.IP = old.ID, old.IP
	return l
}

func (r Route) created(by identity) Route {
	r.ID = by.id("route")
	return r
}

func (v Volume) created(by identity) Volume {
	v.ID, v.Zone = by.id("vol"), orDefault(v.Zone, "sim-1a")
	v.DevicePath = ""
	return v
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
