package machinecontroller

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/preflight"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/ownership"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// writesTimeout leaves time for all else that preflight reads: a webhook may ask the cloud for each of them.
const writesTimeout = 5 * time.Second

// Pools reads the MachineDeployments as their owners see them.
func (a *Adapter) Pools(ctx context.Context) observation.Observed[[]preflight.Pool] {
	items, err := a.deployments(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Absent[[]preflight.Pool]()
	case err != nil:
		return observation.Unknown[[]preflight.Pool](reads.Because("listing "+machineDeploymentKind+"s", err))
	}
	asking, cancel := context.WithTimeout(ctx, writesTimeout)
	defer cancel()
	pools := make([]preflight.Pool, 0, len(items))
	for i := range items {
		pool := toPool(&items[i])
		pool.Write = a.tryWrite(asking, &items[i])
		pools = append(pools, pool)
	}
	slices.SortFunc(pools, func(a, b preflight.Pool) int { return reads.Compare(a.Ref, b.Ref) })
	return observation.Known(pools)
}

func toPool(object *unstructured.Unstructured) preflight.Pool {
	pool := preflight.Pool{
		Ref: reads.RefOf(object), Tool: strings.Join(ownership.Tools(object), ", "),
		Replicas: replicasOf(object), Surge: surgeOf(object),
	}
	for annotation := range object.GetAnnotations() {
		// https://github.com/kubernetes/autoscaler/blob/cluster-autoscaler-1.30.0/cluster-autoscaler/cloudprovider/clusterapi/README.md
		pool.Autoscaled = pool.Autoscaled || strings.HasSuffix(annotation, "cluster-api-autoscaler-node-group-max-size")
	}
	return pool
}

func replicasOf(object *unstructured.Unstructured) int {
	return int(integerOr(object, 1, "spec", "replicas"))
}

// surgeOf is how many Machines more than wanted there may be; a percentage is rounded up, and one is the default:
// https://github.com/kubermatic/machine-controller/blob/v1.59.3/pkg/apis/cluster/v1alpha1/machinedeployment_types.go
func surgeOf(object *unstructured.Unstructured) int {
	replicas := replicasOf(object)
	if replicas == 0 {
		return 0
	}
	value, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "strategy", "rollingUpdate", "maxSurge")
	if !found {
		return 1
	}
	if text, isText := value.(string); isText {
		percent, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
		if err != nil {
			return 1
		}
		return (replicas*percent + 99) / 100
	}
	return int(integerOr(object, 1, "spec", "strategy", "rollingUpdate", "maxSurge"))
}
