package aws

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// firstMinors of Kubernetes whose CCM reads a key of section Global; those before ignore it in silence. The in-tree provider has
// none of them. CloudConfig in pkg/providers/v1/config/config.go of https://github.com/kubernetes/cloud-provider-aws.
func firstMinors() map[string]int {
	return map[string]int{
		"SupportedTopologyInstanceTypePattern":            30,
		"ClusterServiceLoadBalancerHealthProbeMode":       33,
		"ClusterServiceSharedLoadBalancerHealthProbePort": 33,
		"ClusterServiceSharedLoadBalancerHealthProbePath": 33,
		"NLBSecurityGroupMode":                            35,
	}
}

// ChangedSettings are those that a newer CCM reads.
func (Profile) ChangedSettings(version string, data map[string][]byte) []observation.ChangedSetting {
	conf, problem := parse(string(data[configKey]))
	if problem != "" {
		return nil
	}
	var changed []observation.ChangedSetting
	minor := observation.MinorOf(version)
	for _, key := range slices.Sorted(maps.Keys(firstMinors())) {
		first := firstMinors()[key]
		if conf.global(key) != "" && minor < first {
			changed = append(changed, observation.ChangedSetting{
				Name:   "[Global] " + key,
				Effect: fmt.Sprintf("has no effect with the CCM for Kubernetes 1.%d", minor),
				Remedy: fmt.Sprintf("Remove it, or upgrade to Kubernetes 1.%d first.", first),
			})
		}
	}
	return changed
}
