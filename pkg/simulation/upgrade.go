package simulation

import (
	"fmt"
	"slices"

	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// APIServers are processes of kube-apiserver whose owner upgrades them in the middle of a hand-over, one after the other.
type APIServers struct {
	w *World
	// Minors that they are of; none: no one looks at them one by one.
	Minors []int
	Owner  Owner
}

// Owner says how the owner of API servers upgrades them. The zero one changes spec.version after the last of them.
type Owner int

const (
	// TellsFirst changes spec.version before the first of them.
	TellsFirst Owner = iota + 1
	// Away never upgrades.
	Away
)

// step upgrades one of them now and then, when that is allowed. The API server of the management cluster refuses another
// spec.version.
func (as *APIServers) step() {
	cluster := as.w.Cluster
	minor := handover.UpgradeMinor(cluster.Status.Facts)
	goesBack := cluster.Status.Rollback != nil || cluster.Spec.Handover.Rollback
	if as.Owner == Away || minor == 0 || goesBack || as.w.Rng.IntN(4) > 0 {
		return
	}
	old := slices.IndexFunc(as.Minors, func(m int) bool { return m != minor })
	told := observation.MinorOf(cluster.Spec.Version) == minor
	switch {
	case !told && (as.Owner == TellsFirst || old < 0):
		cluster.Spec.Version = versionOf(minor)
		cluster.Generation++
		as.w.Say("owner: spec.version is %s", cluster.Spec.Version)
	case old >= 0:
		as.Minors[old] = minor
		as.w.Say("owner: an API server is of 1.%d", minor)
	}
}

// observe is the Deployment of their owner, whose flags need not change.
func (as *APIServers) observe() []observation.Neighbor {
	if len(as.Minors) == 0 {
		return nil
	}
	server := observation.Component{
		Ref:     observation.Ref{Kind: "Deployment", Namespace: as.w.Cluster.Namespace, Name: "apiserver"},
		Program: observation.APIServerProgram, Container: "apiserver", RolledOut: true,
		Arguments: observation.Arguments{Flags: map[string]string{}},
	}
	for i, minor := range as.Minors {
		server.Pods = append(server.Pods, observation.Process{
			PodName: fmt.Sprintf("apiserver-%d", i), Image: versionOf(minor), Started: true, Arguments: server.Arguments,
		})
	}
	return []observation.Neighbor{{Component: server, Field: "spec.controlPlane.kubeAPIServer", Foreign: true}}
}

// observeVersion is the answer of any of them; of a real cluster, what it was when it was observed.
func (as *APIServers) observeVersion() observation.Observed[string] {
	if len(as.Minors) == 0 {
		return observation.Known(as.w.Cluster.Spec.Version)
	}
	return observation.Known(versionOf(as.Minors[as.w.Rng.IntN(len(as.Minors))]))
}

func versionOf(minor int) string { return fmt.Sprintf("v1.%d.0", minor) }
