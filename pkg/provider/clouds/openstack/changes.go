package openstack

import (
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ChangedSettings are what Octavia does not know: the CCM has it make load balancers with the provider that is written, and
// haproxy is one of its predecessor's.
// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/openstack/loadbalancer.go#L234
func (Profile) ChangedSettings(_ string, data map[string][]byte) []observation.ChangedSetting {
	config, problem := read(data)
	if problem != "" || !strings.EqualFold(config.value(balancerSection, "lb-provider"), "haproxy") {
		return nil
	}
	return []observation.ChangedSetting{{
		Name:   "[LoadBalancer] lb-provider = haproxy",
		Effect: "is a provider of Neutron LBaaS: Octavia refuses new load balancers with it",
		Remedy: "Write a provider that `openstack loadbalancer provider list` shows, such as amphora.",
	}}
}
