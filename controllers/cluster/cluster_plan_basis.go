package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// basisOf is what a plan rests on and every pass sees: the Cluster, what the addons are rendered from, the control plane, and what is
// rolled. Like the digest of a plan it has no Machine, no Node and no number of replicas: those change from minute to minute.
func basisOf(s *scope) string {
	o, parts := s.observed, []any{s.cluster.UID, s.cluster.Generation, s.profile, s.profileProblem}
	config := o.CloudConfig.Value()
	parts = append(parts, o.Contenders.Value(), config.Ref, config.Version, config.Problem)

	plane := o.ControlPlane.Value()
	parts = append(parts, o.ControlPlane.IsKnown(), basisOfComponent(plane.KCM))
	for _, component := range plane.Others {
		parts = append(parts, basisOfComponent(component))
	}
	parts = append(parts, o.MachineController.IsKnown())
	for _, deployment := range o.MachineController.Value() {
		parts = append(parts, basisOfComponent(deployment.Component))
	}
	parts = append(parts, o.Machines.IsKnown())
	for _, pool := range o.Machines.Value().Deployments {
		parts = append(parts, pool.Ref, pool.Paused, pool.Deleting, pool.RestartValue, pool.LimitProblem, pool.MinReadyOwner)
	}
	// These values can always be encoded.
	encoded, _ := json.Marshal(parts)
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

func basisOfComponent(component observation.Component) []any {
	return []any{component.Ref, component.Container, component.Arguments, component.FieldOwner}
}
