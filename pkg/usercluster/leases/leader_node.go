package leases

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
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
	account := types.NamespacedName{Namespace: id.ServiceAccountNamespace, Name: id.ServiceAccountName}
	read := func() observation.Observed[leaderPlace] { return e.readLeaderPlace(ctx, account.Namespace, hostname) }
	place := e.leaderPlace.Read(ctx, e.clock.Now(), e.watches.MarkOfPods(account), read)
	if place.Value().hostname != hostname {
		place = e.leaderPlace.Read(kept.Live(ctx), e.clock.Now(), e.watches.MarkOfPods(account), read)
	}
	if place.IsUnknown() {
		return observation.Unknown[string](place.Why())
	}
	return observation.Known(place.Value().node)
}

// leaderPlace is where the pod of a hostname runs.
type leaderPlace struct{ hostname, node string }

func (e *Elections) readLeaderPlace(ctx context.Context, namespace, hostname string) observation.Observed[leaderPlace] {
	pod := &corev1.Pod{}
	err := e.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: hostname}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return observation.Known(leaderPlace{hostname, hostname})
	case err != nil:
		return observation.Unknown[leaderPlace](reads.Because("looking at Pod "+hostname, err))
	}
	return observation.Known(leaderPlace{hostname, pod.Spec.NodeName})
}
