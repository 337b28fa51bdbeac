package vsphere

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// ccm of vSphere. Facts from releases and cmd/vsphere-cloud-controller-manager of
// https://github.com/kubernetes/cloud-provider-vsphere, tags v1.28.1 to v1.36.0. It needs no rules of its own: its Node informer
// asks for what the loops ask for, and there is one for Secrets only where the file names a Secret, which ours does not.
func ccm(in manifest.RenderInput, conf configuration, release release, minor int) (manifest.Set, error) {
	const name = "vsphere-cloud-controller-manager"
	text, err := render(conf.withoutCredentials())
	if err != nil {
		return manifest.Set{}, err
	}
	// There are no routes without NSX, in-tree neither, whatever KCM was told.
	in.Inherited.ConfigureCloudRoutes = false
	set, err := manifest.CCM{
		Provider: Name, Name: name, Identity: Profile{}.Identity(),
		Image:   manifest.ImageOf("registry.k8s.io/cloud-pv-vsphere/cloud-provider-vsphere", release.ccm),
		Command: []string{"/bin/" + name},
		// From 1.28 on every release is built with the library of its own minor.
		LibraryMinor: minor,
		Arguments:    []string{"--v=2"},
		Env:          conf.ccmEnv(),
		ConfigFile:   configDir + "/" + configKey,
		Secrets: []manifest.Secret{
			{
				Name: "vsphere-cloud-config", MountPath: configDir,
				Data: conf.withCertificates(map[string][]byte{configKey: text}, in.CloudConfig),
			},
			// Read once, at the start; the checksum of the pods has a change of it roll them.
			{Name: "vsphere-cloud-credentials", MountPath: credentialsDir, Data: conf.credentials()},
		},
		User: 1001,
	}.Set(in, release.ccm)
	if err != nil {
		return manifest.Set{}, err
	}
	return set, manifest.ChangePods(set.Objects, func(pod *corev1.PodTemplateSpec) {
		// A Service vsphere-vcenter-x of kube-system would become VSPHERE_VCENTER_X_…, and each such variable a vCenter:
		// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/common/config/config.go#L65-L248
		pod.Spec.EnableServiceLinks = new(false)
	})
}

// ccmEnv lets it start with both IP families:
// https://github.com/kubernetes/cloud-provider-vsphere/blob/v1.36.0/pkg/cloudprovider/vsphere/cloud.go#L282-L297
func (c configuration) ccmEnv() []corev1.EnvVar {
	for _, center := range c.VCenter {
		if len(center.IPFamily) > 1 {
			return []corev1.EnvVar{{Name: "ENABLE_ALPHA_DUAL_STACK", Value: "true"}}
		}
	}
	return nil
}
