package leadermigration

import (
	"slices"
	"strings"
)

// Component is a program of the control plane.
type Component string

// The components. Either is what a configuration says instead of one of the managers.
const (
	KCM       Component = "kube-controller-manager"
	CCM       Component = "cloud-controller-manager"
	APIServer Component = "kube-apiserver"
	Either    Component = "*"
)

// Loop is a controller that moves from KCM to CCM, by the name that the metric running_managed_controllers has for it;
// it is also the name that the controller was registered with before 1.28.
type Loop string

// The loops. The first three are the cloud loops; node IPAM moves only where a provider's CCM ships it.
const (
	ServiceLoop            Loop = "service"
	RouteLoop              Loop = "route"
	CloudNodeLifecycleLoop Loop = "cloud-node-lifecycle"
	NodeIPAMLoop           Loop = "nodeipam"
)

const (
	// renamedMinor is the first in which the controllers are registered under longer names; the old ones live on as
	// aliases that only --controllers understands. The filter of the lock compares registered names.
	// https://github.com/kubernetes/cloud-provider/blob/v0.28.15/names/controller_names.go#L50
	// https://github.com/kubernetes/kubernetes/blob/v1.28.15/cmd/kube-controller-manager/app/controllermanager.go#L773
	renamedMinor = 28
	// namesGoneMinor is the first whose KCM registers none of the three cloud loops, so that --controllers refuses
	// their names and aliases (https://github.com/kubernetes/kubernetes/pull/138002).
	namesGoneMinor = 37
)

// CloudLoops are the three loops of every provider.
func CloudLoops() []Loop { return []Loop{CloudNodeLifecycleLoop, RouteLoop, ServiceLoop} }

// AllLoops are those and node IPAM.
func AllLoops() []Loop { return append(CloudLoops(), NodeIPAMLoop) }

// longName is the registered name from 1.28 on.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/names/controller_names.go#L50
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/names/controller_names.go#L69
func (l Loop) longName() string {
	switch l {
	case ServiceLoop:
		return "service-lb-controller"
	case RouteLoop:
		return "node-route-controller"
	case CloudNodeLifecycleLoop:
		return "cloud-node-lifecycle-controller"
	case NodeIPAMLoop:
		return "node-ipam-controller"
	}
	return string(l)
}

// RegisteredName is the name of a loop that the filter of a minor compares.
func RegisteredName(loop Loop, minor int) string {
	if minor < renamedMinor {
		return string(loop)
	}
	return loop.longName()
}

// loopNamed is the loop that someone means by a name, whether some version compares that name or none does:
// route-controller and service-controller stand in the built-in default of 1.28 and later, but no one registers them
// (https://github.com/kubernetes/controller-manager/blob/v0.30.14/pkg/leadermigration/config/default.go).
func loopNamed(name string) (Loop, bool) {
	switch name {
	case "route-controller":
		return RouteLoop, true
	case "service-controller":
		return ServiceLoop, true
	}
	for _, loop := range AllLoops() {
		if name == string(loop) || name == loop.longName() {
			return loop, true
		}
	}
	return "", false
}

// SpellLoopsOff is how --controllers of KCM excludes the cloud loops in a spelling that each of the minors accepts: the
// registered names, or the short ones where a minor before 1.28 is among them. It is empty where a minor accepts none:
// from 1.37 on KCM has no cloud loops, and refuses to start with their names.
func SpellLoopsOff(minors ...int) []string {
	short := false
	for _, minor := range minors {
		if _, known := KnownMinor(minor); !known || minor >= namesGoneMinor {
			return nil
		}
		short = short || minor < renamedMinor
	}
	var excluded []string
	for _, loop := range CloudLoops() {
		name := loop.longName()
		if short {
			name = string(loop)
		}
		excluded = append(excluded, "-"+name)
	}
	return excluded
}

// listed joins the names of loops.
func listed(loops []Loop) string {
	return joined(slices.Sorted(slices.Values(loops)), ", ", func(loop Loop) string { return string(loop) })
}

func joined[T any](list []T, separator string, text func(T) string) string {
	texts := make([]string, 0, len(list))
	for _, element := range list {
		texts = append(texts, text(element))
	}
	return strings.Join(texts, separator)
}
