package leases

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/provider/manifest"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// LeaderNode is the Node that the CCM leads on; absent when none leads. A leader is known by its hostname: that is the name of
// its pod, or of its Node when the pod has the network of the host.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/app/controllermanager.go (leaderElectAndRun)
func (e *Elections) LeaderNode(
	ctx context.Context,
	id manifest.Identity,
	lease observation.Observed[observation.Lease],
) observation.Observed[string] {
	seen, known := lease.Get()
	hostname, _, _ := strings.Cut(seen.Holder, "_")
	switch {
	case lease.IsUnknown():
		return observation.Unknown[string](lease.Why())
	case !known || hostname == "":
		return observation.Absent[string]()
	}
	pod := &corev1.Pod{}
	err := e.client.Get(ctx, types.NamespacedName{Namespace: id.ServiceAccountNamespace, Name: hostname}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Known(hostname)
	case err != nil:
		return observation.Unknown[string](reads.Because("looking at Pod "+hostname, err))
	}
	return observation.Known(pod.Spec.NodeName)
}
