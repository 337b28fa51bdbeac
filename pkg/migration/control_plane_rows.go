package migration

import (
	"cmp"
	"slices"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/noreturn"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

func markCompleted(in pass.Input) outcome.Outcome {
	if in.Facts.CompletedAt != nil {
		return outcome.Holds(ucv1.CSIKubeletMigrationSuccessReason, "external CCM/CSI migration completed")
	}
	if out := loops.NoStrangerLeads(in); !out.Holds {
		return out
	}
	if out := noreturn.Before(in); !out.Holds {
		return out
	}
	return in.Records("The migration is completed.", func(facts *ucv1.Facts) {
		facts.CompletedAt = in.Stamp()
		if facts.PointOfNoReturnAt == nil {
			facts.PointOfNoReturnAt = facts.CompletedAt
		}
	})
}

// finalize takes the in-tree configuration out in a spelling that this and the next minor accept: flags are removed, but for
// KCM's provider, and the excluded names, which 1.37 does not know any more, go too
// (https://github.com/kubernetes/kubernetes/pull/138002). Neither the default StorageClass nor load
// balancers wait for whoever changes the flags.
func finalize(in pass.Input) outcome.Outcome {
	flags := inTreeFlags(in)
	if flags.Holds {
		if gone := loops.RightGone(in); gone.Holds {
			flags.Facts = gone.Facts
		} else {
			flags = gone
		}
	}
	if flags.Action != nil {
		return flags
	}
	for _, beside := range []func(pass.Input) outcome.Outcome{defaultClass, loadBalancersRenamed} {
		out := beside(in.With(flags))
		if out.Holds {
			continue
		}
		if out.Action == nil && !flags.Holds {
			break
		}
		out.Facts, out.Instructions = cmp.Or(out.Facts, flags.Facts), flags.Instructions
		return out
	}
	return flags
}

func inTreeFlags(in pass.Input) outcome.Outcome {
	return components.Whole(in, func(component observation.Component) (*outcome.ArgumentChange, string) {
		change := components.InTreeRemoval(component, in.Provider.Value().RetiredGates)
		if component.Container == in.ControlPlane.Value().KCM.Container {
			change = keepExternal(change)
		}
		return change, "Removing the in-tree configuration from " + component.String() + "."
	}, "The in-tree configuration is gone.")
}

// keepExternal lets KCM have --cloud-provider=external instead of none. KCM accepts it and starts none of the cloud loops with
// it, as was read in 1.24.17, 1.30.14, 1.31.0, 1.33.6, 1.36.3 and 1.37.2; without it those of 1.31.0 to 1.31.2 crash in the
// service loop.
// https://github.com/kubernetes/kubernetes/blob/v1.24.17/cmd/kube-controller-manager/app/cloudproviders.go
// https://github.com/kubernetes/kubernetes/blob/v1.37.2/cmd/kube-controller-manager/app/options/options.go
// https://github.com/kubernetes/kubernetes/pull/128182
func keepExternal(change *outcome.ArgumentChange) *outcome.ArgumentChange {
	if change == nil {
		return nil
	}
	if at := slices.Index(change.Remove, "cloud-provider"); at >= 0 {
		change.Remove = slices.Delete(change.Remove, at, at+1)
		change.Set = append([]outcome.Flag{{Name: "--cloud-provider", Value: "external"}}, change.Set...)
	}
	return change
}
