package openstack

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// ccm of OpenStack. Facts from manifests/controller-manager and charts/openstack-cloud-controller-manager of
// https://github.com/kubernetes/cloud-provider-openstack, tags v1.24.6 to v1.36.0.
func ccm(in manifest.RenderInput, conf config, release release, minor int) (manifest.Set, error) {
	const name = "openstack-cloud-controller-manager"
	return manifest.CCM{
		Provider: Name,
		Name:     name,
		Identity: Profile{}.Identity(),
		Image:    manifest.ImageOf("registry.k8s.io/provider-os/"+name, release.tag),
		Command:  []string{"/bin/" + name},
		// Every release is built with the library of its own minor.
		LibraryMinor: minor,
		Arguments:    []string{"--v=1"},
		ConfigFile:   configDir + "/" + configKey,
		Secrets: []manifest.Secret{
			{Name: "cloud-config", Data: conf.external(minor).mounted(in.CloudConfig), MountPath: configDir},
		},
		// It writes the load balancer's ID and address into annotations of the Service:
		// https://github.com/kubernetes/cloud-provider-openstack/blob/v1.36.0/pkg/util/util.go#L111
		Rules: []rbacv1.PolicyRule{manifest.Rule("", "services", "patch")},
		User:  1001,
	}.Set(in, release.tag)
}
