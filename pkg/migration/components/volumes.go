package components

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// VolumesMigrated switches the CSI migration gates on before any kubelet does: control plane first, because a kubelet
// that migrates a volume which its controllers do not migrate cannot mount it (KEP-625).
func VolumesMigrated(in pass.Input) outcome.Outcome {
	gates := in.Provider.Value().MigrationGates
	if !in.Provider.IsKnown() {
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	}
	if len(gates) == 0 {
		return outcome.Holds(ucv1.HoldsReason, "This Kubernetes minor migrates the provider's volumes without a gate.")
	}
	if out := OriginalsOfOthersKept(in); !out.Holds {
		return out
	}
	return Whole(in, func(component observation.Component) (*outcome.ArgumentChange, string) {
		missing := MissingGates(component.Arguments, gates)
		if len(missing) == 0 {
			return nil, ""
		}
		return &outcome.ArgumentChange{
			Target: component.Ref, Container: component.Container,
			Set: []outcome.Flag{GatesFlag(component.Arguments, gates)},
		}, "Switching feature gates in " + component.String() + ": " + wording.Names(missing) + "."
	}, "The CSI migration gates are on.")
}
