package manifest

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// InheritedArguments are the CCM's flags that continue what KCM did, so that load balancers keep their names and each
// cloud loop that KCM ran, and no other, goes on in the CCM.
//
// Without loops the cluster was external from the start: nothing is inherited but names, and the CCM runs the service
// and the node lifecycle loop as it does by default. --allocate-node-cidrs only says what the cluster is like: node IPAM
// is not among the loops of the CCMs in this catalogue and stays in KCM. The entries are further ones of --controllers.
func InheritedArguments(in ucv1.InheritedConfiguration, entries ...string) ([]string, error) {
	if in.ClusterName == "" {
		return nil, errors.New("the inherited configuration has no cluster name: load balancer names derive from it, " +
			"so it is never made up; set spec.cloud.clusterName")
	}
	migrated, routes := len(in.Loops) > 0, RunsRoutes(in)
	if routes && in.ClusterCIDR == "" {
		return nil, errors.New("the inherited configuration has routes but no cluster CIDR: the route loop would exit")
	}
	arguments := []string{
		"--cluster-name=" + Literal(in.ClusterName),
		"--allocate-node-cidrs=" + strconv.FormatBool(in.AllocateNodeCIDRs),
		"--configure-cloud-routes=" + strconv.FormatBool(routes),
	}
	if in.ClusterCIDR != "" {
		arguments = append(arguments, "--cluster-cidr="+in.ClusterCIDR)
	}
	controllers := append([]string{"*"}, entries...)
	for _, loop := range []struct{ name, alias string }{
		// The aliases are accepted by every minor, the registered names only from 1.28.
		{observation.ServiceLoop, "service"}, {observation.CloudNodeLifecycleLoop, "cloud-node-lifecycle"},
	} {
		if migrated && !slices.Contains(in.Loops, loop.name) {
			controllers = append(controllers, "-"+loop.alias)
		}
	}
	return append(arguments, "--controllers="+strings.Join(controllers, ",")), nil
}

// Literal is a text that the kubelet takes as it is: it replaces $(VARIABLE) in arguments, and variables of a CCM have
// credentials.
// https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/
func Literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// RunsRoutes says whether the CCM is to run the route loop.
func RunsRoutes(in ucv1.InheritedConfiguration) bool {
	return in.ConfigureCloudRoutes && (len(in.Loops) == 0 || slices.Contains(in.Loops, observation.RouteLoop))
}
