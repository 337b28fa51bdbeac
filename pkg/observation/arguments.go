package observation

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Arguments are the command line of a container, parsed as the Kubernetes components parse theirs: --flag=value,
// --flag value, --flag for true. The zero value is "not understood".
type Arguments struct {
	// Problem is a sentence naming the argument when the command line is in a form that we do not understand. Then
	// nothing is concluded from it.
	Problem string
	// Flags by name without dashes; a flag that was given twice keeps its last value, as pflag does.
	Flags map[string]string
}

// Understood says that conclusions may be drawn.
func (a Arguments) Understood() bool { return a.Problem == "" && a.Flags != nil }

// Flag returns the value of a flag and whether it was given.
func (a Arguments) Flag(name string) (string, bool) {
	value, ok := a.Flags[name]
	return value, ok
}

// True says whether a boolean flag is on; def is the component's default.
func (a Arguments) True(name string, def bool) bool {
	value, ok := a.Flag(name)
	if !ok {
		return def
	}
	on, err := strconv.ParseBool(value)
	return err == nil && on
}

// Duration returns the value of a flag, or its default when it was not given or cannot be read.
func (a Arguments) Duration(name string, def time.Duration) time.Duration {
	value, err := time.ParseDuration(a.Flags[name])
	if err != nil {
		return def
	}
	return value
}

// CloudLoops returns the registered names of the cloud loops that a KCM with these arguments runs when it leads, sorted.
// KCM runs them only with an in-tree provider: with none or "external" all three return at once
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/core.go).
func (a Arguments) CloudLoops() []string {
	provider := a.Flags["cloud-provider"]
	if provider == "" || provider == "external" {
		return nil
	}
	controllers, given := a.Flag("controllers")
	if !given {
		controllers = "*"
	}
	list := strings.Split(controllers, ",")
	var running []string
	for name, alias := range CloudLoops() {
		if controllerEnabled(list, name, alias) && (name != RouteLoop || a.runsRoutes()) {
			running = append(running, name)
		}
	}
	slices.Sort(running)
	return running
}

// runsRoutes follows KCM: the route loop needs both flags, and configure-cloud-routes defaults to true.
func (a Arguments) runsRoutes() bool {
	return a.True("allocate-node-cidrs", false) && a.True("configure-cloud-routes", true)
}

// FeatureGate returns the value of a gate in --feature-gates.
func (a Arguments) FeatureGate(name string) (value, given bool) {
	for pair := range strings.SplitSeq(a.Flags["feature-gates"], ",") {
		key, text, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if ok && key == name {
			on, err := strconv.ParseBool(text)
			return err == nil && on, true
		}
	}
	return false, false
}

// LeaderLease is the Lease that a KCM with these arguments elects its leader with.
func (a Arguments) LeaderLease() (namespace, name string) {
	namespace, name = "kube-system", "kube-controller-manager"
	if value := a.Flags["leader-elect-resource-namespace"]; value != "" {
		namespace = value
	}
	if value := a.Flags["leader-elect-resource-name"]; value != "" {
		name = value
	}
	return namespace, name
}

// The registered names of the cloud loops, and their names and aliases in --controllers.
// https://github.com/kubernetes/cloud-provider/blob/v0.30.14/names/controller_names.go
const (
	ServiceLoop            = "service-lb-controller"
	RouteLoop              = "node-route-controller"
	CloudNodeLifecycleLoop = "cloud-node-lifecycle-controller"
)

// CloudLoops maps the registered name to the alias; both are accepted by --controllers from 1.28, only the alias before.
func CloudLoops() map[string]string {
	return map[string]string{ServiceLoop: "service", RouteLoop: "route", CloudNodeLifecycleLoop: "cloud-node-lifecycle"}
}

// controllerEnabled follows IsControllerEnabled of k8s.io/controller-manager: the first mention of the controller
// decides, "*" means those that are on by default.
func controllerEnabled(list []string, names ...string) bool {
	star := false
	for _, entry := range list {
		entry = strings.TrimSpace(entry)
		switch {
		case slices.Contains(names, entry):
			return true
		case strings.HasPrefix(entry, "-") && slices.Contains(names, entry[1:]):
			return false
		case entry == "*":
			star = true
		}
	}
	return star
}
