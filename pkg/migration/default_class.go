package migration

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// judgesDefaultClass says that the default StorageClass is to be judged: behind the point of no return, because a claim without a
// class gets a volume from then on that only the CSI driver serves, and a rollback has nothing to give back. Before that the
// in-tree class goes on working: the control plane translates it. It is judged once: whoever changes the default later is not
// fought.
func judgesDefaultClass(facts ucv1.Facts) bool {
	switch {
	case facts.DefaultStorageClass != nil:
		return false
	case facts.Origin == ucv1.OriginExternal:
		return facts.Handover != nil && facts.Handover.FinishedAt != nil
	}
	return facts.CompletedAt != nil
}

// defaultClass takes the default from the classes of the in-tree plugin, or gives one to a cluster that has none. Any other
// default is its owner's business.
func defaultClass(in pass.Input) outcome.Outcome {
	if !judgesDefaultClass(in.Facts) {
		return outcome.Holds(ucv1.HoldsReason, "The default StorageClass was judged.")
	}
	provider, found := in.Provider.Get()
	classes, known := in.StorageClasses.Get()
	switch {
	case !found:
		return outcome.CannotLook("the catalogue", in.Provider.Why())
	case provider.DefaultClass.Name == "":
		return outcome.Holds(ucv1.HoldsReason, "The catalogue has no default StorageClass.")
	case !known:
		return outcome.CannotLook("the StorageClasses", in.StorageClasses.Why())
	}
	successor, former, other := defaultsOf(provider, classes)
	switch {
	case other != "":
		return defaultIs(in, other, "it is left alone")
	case successor == nil:
		return withoutSuccessor(in, provider.DefaultClass.Name)
	case successor.Default && len(former) == 0:
		return defaultIs(in, successor.Name, "it belongs to the CSI driver")
	}
	why := "Making " + successor.String() + " the default."
	if len(former) > 0 {
		why = "Making " + successor.String() + " the default in place of " + wording.Names(observation.RefNames(former)) + "."
	}
	return outcome.Does(outcome.Action{
		Kind: outcome.ActionSwitchDefaultClass, Objects: append(former, successor.Ref), DefaultClass: successor.Name, Why: why,
	})
}

// defaultsOf are our class, those of the in-tree plugin that are the default, and another one that is, if there is one.
func defaultsOf(
	provider observation.Provider,
	classes []observation.StorageClass,
) (successor *observation.StorageClass, former []observation.Ref, other string) {
	for _, class := range classes {
		switch {
		case class.Name == provider.DefaultClass.Name && slices.Contains(provider.CSIDrivers, class.Provisioner):
			successor = &class
		case class.Default && class.Provisioner != provider.DefaultClass.Plugin:
			return nil, nil, class.Name
		case class.Default:
			former = append(former, class.Ref)
		}
	}
	return successor, former, ""
}

// externalHandover: the table of a cluster that was created with the feature has no row behind it.
func externalHandover(in pass.Input) outcome.Outcome {
	out := loops.HandOver(in)
	if !out.Holds {
		return out
	}
	if class := defaultClass(in); !class.Holds {
		return class
	}
	return out
}

func defaultIs(in pass.Input, name, why string) outcome.Outcome {
	return in.Records("Recording that the default is StorageClass "+name+": "+why+".", func(facts *ucv1.Facts) {
		facts.DefaultStorageClass = &ucv1.DefaultStorageClassStatus{Name: name, JudgedAt: in.Stamp()}
	})
}

// withoutSuccessor: where the driver is someone else's, its classes are, too.
func withoutSuccessor(in pass.Input, name string) outcome.Outcome {
	addons, known := in.Addons.Get()
	switch {
	case !known:
		return outcome.CannotLook("the addons in the user cluster", in.Addons.Why())
	case addons.CSI.SatisfiedBy == "":
		return outcome.WaitsUntil(ucv1.RollingOutReason,
			observation.Say(observation.Ref{Kind: "StorageClass", Name: name}, " is not there yet."), time.Minute)
	}
	why := "Recording that the default StorageClass is left alone: the CSI driver is someone else's."
	return in.Records(why, func(facts *ucv1.Facts) {
		facts.DefaultStorageClass = &ucv1.DefaultStorageClassStatus{JudgedAt: in.Stamp()}
	})
}
