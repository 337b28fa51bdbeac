package machinecontroller

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ccm-migration/ccm-migration-controller/pkg/kept"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/pkg/usercluster/reads"
)

// What the operating-system-manager writes into a Secret that no one changes afterwards.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/resources/secrets.go#L26-L42
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/sdk/bootstrap/types.go
const (
	bootstrapKey                = "cloud-config"
	bootstrapRevisionAnnotation = "k8c.io/machine-deployment-revision"
	revisionAnnotation          = "machinedeployment.clusters.k8s.io/revision"
	// maxRevision is a number of more digits than any revision has.
	maxRevision = 20
)

// Bootstraps reads how the kubelets of new Machines start, one Secret by its name for each MachineDeployment. Its content has
// tokens and certificates, and is dropped here: what is kept is one of a few words, and the revision.
func (a *Adapter) Bootstraps(
	ctx context.Context,
	deployments []observation.Ref,
) observation.Observed[map[string]observation.BootstrapData] {
	if len(deployments) == 0 {
		return observation.Absent[map[string]observation.BootstrapData]()
	}
	seen := make(map[string]observation.BootstrapData, len(deployments))
	for _, deployment := range deployments {
		data, err := a.bootstrapOf(ctx, rollout.BootstrapSecret(deployment))
		if err != nil {
			return observation.Unknown[map[string]observation.BootstrapData](
				reads.Because("reading "+rollout.BootstrapSecret(deployment).String(), err),
			)
		}
		seen[deployment.UID] = data
	}
	return observation.Known(seen)
}

// betweenBootstraps is how long what was read is taken for what is there: Secrets may not be watched.
const betweenBootstraps = 5 * time.Second

func (a *Adapter) bootstrapOf(ctx context.Context, ref observation.Ref) (observation.BootstrapData, error) {
	mark := a.watches.MarkOfUnwatched()
	mark.Most = betweenBootstraps
	var failed error
	data := a.bootstrap(ref).Read(ctx, a.clock.Now(), mark, func() observation.Observed[observation.BootstrapData] {
		var read observation.BootstrapData
		if read, failed = a.readBootstrap(ctx, ref); failed != nil {
			return observation.Unknown[observation.BootstrapData](failed.Error())
		}
		return observation.Known(read)
	})
	return data.Value(), failed
}

// bootstrap is what was read of one Secret. There are as many as MachineDeployments.
func (a *Adapter) bootstrap(ref observation.Ref) *kept.Value[observation.BootstrapData] {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bootstraps == nil {
		a.bootstraps = map[observation.Ref]*kept.Value[observation.BootstrapData]{}
	}
	if a.bootstraps[ref] == nil {
		a.bootstraps[ref] = &kept.Value[observation.BootstrapData]{}
	}
	return a.bootstraps[ref]
}

func (a *Adapter) readBootstrap(ctx context.Context, ref observation.Ref) (observation.BootstrapData, error) {
	secret := &corev1.Secret{}
	err := a.client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return observation.BootstrapData{Kubelet: observation.BootstrapMissing}, nil
	case apierrors.IsForbidden(err):
		return observation.BootstrapData{Kubelet: observation.BootstrapRefused}, nil
	case errors.Is(err, reads.ErrTooLarge):
		return observation.BootstrapData{Kubelet: observation.BootstrapNotTold}, nil
	case err != nil:
		return observation.BootstrapData{}, err
	}
	return observation.BootstrapData{
		Kubelet: kubeletOf(secret.Data[bootstrapKey]), Revision: revisionOf(secret, bootstrapRevisionAnnotation),
	}, nil
}

// revisionOf an object; text that is too long to be one is none.
func revisionOf(object client.Object, annotation string) string {
	if revision := object.GetAnnotations()[annotation]; len(revision) <= maxRevision {
		return revision
	}
	return ""
}
