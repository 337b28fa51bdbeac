package cluster

import (
	"context"
	"encoding/base64"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/baseline"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// observeBaseline reads the Secret with the inventory before the hand-over, and with the proofs of kubelets that pass.
func (o *Observer) observeBaseline(ctx context.Context, s *scope) {
	s.observed.Baseline, s.observed.Proofs = observation.Absent[observation.Inventory](), observation.Absent[observation.KeptProofs]()
	taken := s.cluster.Status.Baseline
	if taken == nil {
		return
	}
	secret := &corev1.Secret{}
	if err := o.live.Get(ctx, client.ObjectKey{Namespace: s.cluster.Namespace, Name: taken.SecretName}, secret); err != nil {
		if !apierrors.IsNotFound(err) {
			s.observed.Baseline = observation.Unknown[observation.Inventory](err.Error())
			s.observed.Proofs = observation.Unknown[observation.KeptProofs](err.Error())
		}
		return
	}
	s.observed.Proofs = observation.Known(observation.KeptProofs{
		Secret:  observation.Ref{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name, UID: string(secret.UID)},
		Version: secret.ResourceVersion, ByNode: baseline.DecodeProofs(secret.Data[baseline.ProofsKey]),
	})
	inventory, err := baseline.Decode(secret.Data)
	if err != nil {
		// A baseline that cannot be read is not the one that was taken: its digest says so.
		inventory = observation.Inventory{Volumes: []observation.Volume{{Name: err.Error()}}}
	}
	s.observed.Baseline = observation.Known(inventory)
}

func (r *Reconciler) takeBaseline(ctx context.Context, s *scope) error {
	encoded, err := baseline.Encode(s.observed.Inventory.Value())
	if err != nil {
		return err
	}
	object := beside(s, "Secret", s.decision.Facts.Baseline.SecretName)
	object.Object["data"] = map[string]any{baseline.Key: base64.StdEncoding.EncodeToString(encoded)}
	return r.apply(ctx, object)
}

// tried is what acting could not do.
func (s *scope) tried() string {
	if s.unkept || s.decision.Verb == nil {
		return "Keeping the proofs of kubelets in the Secret with the baseline; nothing rests on them before."
	}
	return s.decision.Verb.Why
}

// keepProofs writes them beside the inventory. It carries the uid, or it would make a Secret again that was deleted, and the
// resourceVersion that the proofs were computed from.
func (r *Reconciler) keepProofs(ctx context.Context, s *scope) error {
	proofs := s.decision.Proofs
	if proofs == nil {
		return nil
	}
	encoded, err := baseline.EncodeProofs(proofs.ByNode)
	if err != nil {
		return err
	}
	object := beside(s, "Secret", proofs.Secret.Name)
	object.SetUID(types.UID(proofs.Secret.UID))
	object.SetResourceVersion(proofs.Version)
	object.Object["data"] = map[string]any{baseline.ProofsKey: base64.StdEncoding.EncodeToString(encoded)}
	err = r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(ucv1.ProofsFieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("keep the proofs of kubelets in %s: %w", proofs.Secret, err)
	}
	return nil
}
