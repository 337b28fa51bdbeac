package components

import (
	"strings"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// LoopsOffFlag keeps the list as it is and excludes the cloud loops at its end. From 1.28 on the registered names are
// used; before, KCM knows only the short ones
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/names/controller_names.go).
func LoopsOffFlag(arguments observation.Arguments, minor int) outcome.Flag {
	given, ok := arguments.Flag("controllers")
	if !ok {
		given = "*"
	}
	var kept []string
	for entry := range strings.SplitSeq(given, ",") {
		if !isCloudLoop(strings.TrimPrefix(strings.TrimSpace(entry), "-")) {
			kept = append(kept, strings.TrimSpace(entry))
		}
	}
	for _, name := range []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop} {
		if minor < 28 {
			name = observation.CloudLoops()[name]
		}
		kept = append(kept, "-"+name)
	}
	return outcome.Flag{Name: "--controllers", Value: strings.Join(kept, ",")}
}

func isCloudLoop(name string) bool {
	for registered, alias := range observation.CloudLoops() {
		if name == registered || name == alias {
			return true
		}
	}
	return false
}

// Disarm takes the migration lock out of the arguments.
func Disarm(change *outcome.ArgumentChange) {
	change.Remove = append(change.Remove, "enable-leader-migration", "leader-migration-config")
	change.Unmount = true
}
