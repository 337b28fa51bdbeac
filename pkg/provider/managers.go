package provider

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/managers"
)

// RecognizeManager says whether such pods are a cloud-controller-manager, of any provider.
func (c *Catalogue) RecognizeManager(labels map[string]string, pod *corev1.PodSpec) (managers.Manager, bool) {
	programs := map[string]bool{}
	for name, profile := range c.profiles {
		maps.Copy(programs, c.contentsOf(name, profile).Programs)
	}
	return managers.Recognize(programs, labels, pod)
}

// ManagerWorkloads are those that a provider's CCM and its probe have in any minor.
func (c *Catalogue) ManagerWorkloads(name string) []observation.Ref {
	profile, ok := c.Lookup(name)
	if !ok {
		return nil
	}
	return c.contentsOf(name, profile).CCM
}
