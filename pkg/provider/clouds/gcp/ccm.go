package gcp

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

const (
	images = "registry.k8s.io/cloud-provider-gcp/"
	// configDir is where the CCM's Secret is.
	configDir = "/etc/kubernetes/cloud"
)

// ccm of Google Cloud. Facts from cmd/cloud-controller-manager and providers/gce of
// https://github.com/kubernetes/cloud-provider-gcp, tags ccm/v26.2.0 to v36.0.7.
func ccm(in manifest.RenderInput, release release, config cloudConfig) (manifest.Set, error) {
	const name, binary = "gcp-cloud-controller-manager", "cloud-controller-manager"
	return manifest.CCM{
		Provider: Name, Flag: flagValue, Name: name, Identity: Profile{}.Identity(),
		Image: manifest.ImageOf(images+binary, release.ccm),
		// The entrypoint is the wrapper /go-runner up to v32.2.5 and the binary from v33.1.1 on; the command holds for all:
		// https://github.com/kubernetes/cloud-provider-gcp/issues/842
		Command:      []string{"/" + binary},
		LibraryMinor: release.library,
		Arguments:    []string{"--v=2"},
		// Node IPAM is on by default, ends the process without --allocate-node-cidrs, and hands out CIDRs that KCM hands out too
		// with it. The GKE loop is on by default in early 26 only. The alias nodeipam is accepted by all tags:
		// https://github.com/kubernetes/cloud-provider-gcp/blob/v36.0.7/cmd/cloud-controller-manager/main.go#L149-L154
		Controllers: []string{"-gkenetworkparamset", "-nodeipam"},
		Env:         []corev1.EnvVar{credentialsEnv(configDir)},
		ConfigFile:  configDir + "/" + configKey,
		Secrets: []manifest.Secret{{Name: "gce-cloud-config", MountPath: configDir, Data: map[string][]byte{
			configKey: config.global.external().render(), credentialsKey: config.credentials,
		}}},
		NamespaceRules: clusterIDRules(),
		User:           65532,
	}.Set(in, release.ccm)
}

// clusterIDRules are for the ConfigMap ingress-uid, whose UID is in the names of instance groups and health checks. The CCM
// lists and watches all ConfigMaps of kube-system, because its informer's empty field selector takes the place of the name,
// and a rule with resourceNames refuses that: without the list no Service load balancer is served.
// https://github.com/kubernetes/cloud-provider-gcp/blob/v36.0.7/providers/gce/gce_clusterid.go#L116
// https://github.com/kubernetes/client-go/blob/v0.36.4/tools/cache/listwatch.go#L218
func clusterIDRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{manifest.Rule("", "configmaps", "list", "watch", "create")}
}

// credentialsEnv is needed besides token-url=nil: the client of one API is made with the default credentials whatever the
// configuration says (providers/gce/gce_tpu.go).
func credentialsEnv(folder string) corev1.EnvVar {
	return corev1.EnvVar{Name: "GOOGLE_APPLICATION_CREDENTIALS", Value: folder + "/" + credentialsKey}
}
