package aws

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// ccm of AWS. Facts from examples/existing-cluster, cmd/aws-cloud-controller-manager and Dockerfile of
// https://github.com/kubernetes/cloud-provider-aws, tags v1.24.19 to v1.36.1. Its provider asks the API server for nothing
// that the loops do not ask for: it reads a Node, taints it and writes events
// (https://github.com/kubernetes/cloud-provider-aws/blob/v1.24.19/pkg/providers/v1/aws.go#L2259), so it has no rules of its own.
func ccm(in manifest.RenderInput, conf config, release release, minor int) (manifest.Set, error) {
	const name, folder = "aws-cloud-controller-manager", "/etc/kubernetes/cloud"
	files := map[string][]byte{configKey: []byte(render(forCCM(conf, minor)))}
	made := manifest.CCM{
		Provider: Name, Name: name, Identity: Profile{}.Identity(),
		Image:        manifest.ImageOf("registry.k8s.io/provider-aws/cloud-controller-manager", release.tag),
		LibraryMinor: release.library,
		Arguments:    []string{"--v=1"},
		ConfigFile:   folder + "/" + configKey,
		Secrets:      []manifest.Secret{{Name: "cloud-config", Data: files, MountPath: folder}},
		// The image has no user, and the process needs nothing that only root has.
		User: 65532,
	}
	if keys, given := keysOf(in.CloudConfig); given {
		// Not in the environment: up to 1.28 keys there keep the CCM from assuming the role of key RoleARN:
		// https://github.com/kubernetes/cloud-provider-aws/blob/v1.28.11/pkg/providers/v1/aws.go
		files[credentialsFile] = credentials(keys, "")
		made.Env = []corev1.EnvVar{{Name: "AWS_SHARED_CREDENTIALS_FILE", Value: folder + "/" + credentialsFile}}
	}
	return made.Set(in, release.tag)
}
