package components

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// OriginalsKept holds when the flags that are about to be changed were kept: afterwards no one could say what they were.
func OriginalsKept(in pass.Input, component observation.Component) outcome.Outcome {
	facts := in.Changed(func(facts *ucv1.Facts) { KeepOriginals(facts, in.ControlPlane.Value().KCM, component) })
	if equality.Semantic.DeepEqual(facts, &in.Facts) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	out := outcome.Records("Recording the arguments of " + component.String() + " before they are changed.")
	out.Facts = facts
	return out
}

// KeepOriginals keeps the flags of components. Cloud loops that are off with an in-tree provider are no original: to give them
// back would leave the cluster without any.
func KeepOriginals(facts *ucv1.Facts, kcm observation.Component, components ...observation.Component) {
	handover := facts.Handover
	for _, component := range components {
		if LoopsOffInTree(component.Arguments) && component.Container == kcm.Container {
			continue
		}
		original := originalOf(component)
		at := slices.IndexFunc(handover.Original, func(o ucv1.OriginalArguments) bool { return o.Deployment == component.Name })
		switch {
		case at < 0:
			handover.Original = append(handover.Original, original)
		default:
			handover.Original[at] = original
		}
	}
}

func originalOf(component observation.Component) ucv1.OriginalArguments {
	original := ucv1.OriginalArguments{Deployment: component.Name}
	if value, given := component.Arguments.Flag("controllers"); given {
		original.Controllers = &value
	}
	if value, given := component.Arguments.Flag("feature-gates"); given {
		original.FeatureGates = &value
	}
	return original
}

// Original is what was kept of a Deployment; nil when it was never changed.
func Original(facts ucv1.Facts, deployment string) *ucv1.OriginalArguments {
	if facts.Handover == nil {
		return nil
	}
	at := slices.IndexFunc(facts.Handover.Original, func(o ucv1.OriginalArguments) bool { return o.Deployment == deployment })
	if at < 0 {
		return nil
	}
	return &facts.Handover.Original[at]
}

// OriginalGates are the feature gates that a component had before, as its flag has them.
func OriginalGates(facts ucv1.Facts, deployment string) string {
	if kept := Original(facts, deployment); kept != nil && kept.FeatureGates != nil {
		return *kept.FeatureGates
	}
	return ""
}

// OriginalsOfOthersKept is for a component that the spec has named since the start: a rollback gives it back what it has now.
func OriginalsOfOthersKept(in pass.Input) outcome.Outcome {
	for _, component := range in.ControlPlane.Value().Others {
		if in.Facts.Handover != nil && component.Arguments.Understood() && Original(in.Facts, component.Name) == nil {
			return in.Records("Recording the flags of "+component.String()+" before it is changed.", func(facts *ucv1.Facts) {
				KeepOriginals(facts, in.ControlPlane.Value().KCM, component)
			})
		}
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}
