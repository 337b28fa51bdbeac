package hetzner

import (
	"errors"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
)

// ccm of Hetzner Cloud. Facts from chart/, main.go and hcloud/cloud.go of
// https://github.com/hetznercloud/hcloud-cloud-controller-manager, tags v1.30.1 and v1.35.0. It needs no rules beyond those of
// the loops: it reads the API server only through the library's informers, and its own events are among them.
func ccm(in manifest.RenderInput, release release, config config) (manifest.Set, error) {
	if problem := routesProblem(in.Inherited, config); problem != "" {
		return manifest.Set{}, errors.New(problem)
	}
	const name = "hcloud-cloud-controller-manager"
	secret, env := config.render("hcloud", ccmVariable)
	return manifest.CCM{
		Provider: Name, Flag: "hcloud", Name: name, Identity: Profile{}.Identity(),
		Image:        manifest.ImageOf(ccmImage, release.ccm),
		LibraryMinor: release.library,
		Arguments: []string{
			// Without it the CCM ends at its start, as the cloud's objects have no cluster in them:
			// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/main.go#L75
			"--allow-untagged-cloud=true",
			// The default of 10s uses up the requests that a project may make in an hour:
			// https://github.com/hetznercloud/hcloud-cloud-controller-manager/issues/395
			"--route-reconciliation-period=30s",
		},
		Env: append(env, variables(in.Inherited, config)...), Secrets: []manifest.Secret{secret}, User: 65532,
	}.Set(in, release.ccm)
}

func variables(in ucv1.InheritedConfiguration, config config) []corev1.EnvVar {
	// Two replicas on a Node would contend for its port, and it is open to all: see the package.
	env := []corev1.EnvVar{{Name: "HCLOUD_METRICS_ENABLED", Value: "false"}}
	if config[networkKey] != "" {
		env = append(env,
			// With a network the CCM runs routes by itself, unless it is told not to. The flag tells the library, this the provider.
			corev1.EnvVar{Name: "HCLOUD_NETWORK_ROUTES_ENABLED", Value: strconv.FormatBool(manifest.RunsRoutes(in))},
			// Otherwise it ends at its start where its own server is not in the network, or is none of the cloud's. It does not need to
			// be.
			corev1.EnvVar{Name: "HCLOUD_NETWORK_DISABLE_ATTACHED_CHECK", Value: "true"})
	}
	if config[robotUserKey] != "" {
		env = append(env, corev1.EnvVar{Name: "ROBOT_ENABLED", Value: "true"})
	}
	return env
}

// routesProblem is why the route loop could not run. Of these the CCM ends at its start only for the second:
// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/internal/config/config.go
// For the others it logs a line and has no routes, and Pods do not reach each other:
// https://github.com/hetznercloud/hcloud-cloud-controller-manager/blob/v1.35.0/hcloud/routes.go#L53
func routesProblem(in ucv1.InheritedConfiguration, config config) string {
	switch {
	case !manifest.RunsRoutes(in):
		return ""
	case config[networkKey] == "":
		return "the cluster has cloud routes, and the cloud configuration lacks key network: add the network of the servers"
	case config[robotUserKey] != "":
		return "the cluster has cloud routes, and the CCM has none together with Robot: " +
			"remove robot-user and robot-password from the cloud configuration, or give the cluster a pod network without cloud routes"
	case strings.Contains(in.ClusterCIDR, ","):
		return "the cluster has cloud routes, and more than one cluster CIDR, of which the CCM takes one: " +
			"give the cluster a pod network without cloud routes, or one IPv4 CIDR"
	}
	return ""
}
