package handover

import (
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// RunningLoops are the cloud loops of the template and of every pod that is not proven to have ended.
func RunningLoops(kcm observation.Component) []string {
	loops := kcm.Arguments.CloudLoops()
	for _, process := range kcm.Pods {
		if !process.Ended {
			loops = append(loops, process.Arguments.CloudLoops()...)
		}
	}
	return loops
}

// Owner is who changed the arguments of a component last, for a message.
func Owner(component observation.Component) string {
	if component.FieldOwner == "" {
		return "someone"
	}
	return component.FieldOwner
}

// Loud names what may run cloud loops in KCM again, and who made it so; empty when nothing does.
func Loud(kcm observation.Component) observation.Text {
	if MayRunLoops(observation.Process{Arguments: kcm.Arguments}) {
		return Contended(kcm)
	}
	for _, process := range kcm.Pods {
		if !process.Ended && MayRunLoops(process) {
			return observation.Say(podOf(kcm, process.PodName), " may run cloud loops again. End it; nothing is rolled until then.")
		}
	}
	return observation.Text{}
}

// Contended says who changed the arguments of KCM, so that it may run cloud loops again.
func Contended(kcm observation.Component) observation.Text {
	return observation.Say(kcm, " may run cloud loops again; its arguments were changed by "+Owner(kcm)+
		". Switch the loops off where that gets its arguments from; nothing is rolled until then.")
}

func podOf(kcm observation.Component, name string) observation.Ref {
	return observation.Ref{Kind: "Pod", Namespace: kcm.Namespace, Name: name}
}
