package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// ComponentUnclaimed is the ID of the finding about components of the control plane that are no one's.
const ComponentUnclaimed = "ComponentUnclaimed"

// longLease is from when on a Lease makes the gap of the hand-over long.
const longLease = time.Minute

func controlPlaneChecks() []check {
	return []check{
		{
			id: "LeaderElectionOff", severity: observation.Blocking,
			means:  "KCM runs without leader election: every replica runs all loops, and no Lease ever shows which one does.",
			unseen: unseenControlPlane, find: leaderElectionOff,
		},
		{
			id: "LeaderUnknown", severity: observation.Blocking,
			means:  "Someone who is no pod of the control plane holds KCM's Lease: a KCM that no one would switch the loops off in.",
			unseen: unseenLeader, find: unknownLeader,
		},
		{
			id: "LeaseLong", severity: observation.Warning,
			means:  "KCM's Lease lasts for more than a minute: where its end has to be waited for, no one runs the loops for that long.",
			unseen: unseenControlPlane, find: leaseLong,
		},
		{
			id: "ComponentRollingOut", severity: observation.Warning,
			means:  "A part of the control plane is being rolled out: a pod of before may still run the cloud loops.",
			unseen: unseenControlPlane, find: rollingOut,
		},
		{
			id: "ComponentPodsDiffer", severity: observation.Warning,
			means:  "A pod of KCM runs other cloud loops than its template says.",
			unseen: unseenControlPlane, find: podsDiffer,
		},
		{
			id:       ComponentUnclaimed,
			severity: observation.Blocking,
			means: "kube-apiserver or kube-scheduler was found beside KCM with in-tree flags, and spec.controlPlane does not say who " +
				"owns it. Where it says Foreign, this is a warning.",
			unseen: func(o Facts) string { return cmp.Or(unseenControlPlane(o), unseen("the catalogue", o.Provider)) },
			find:   unclaimedComponents,
		},
		{
			id: "ControlPlaneReconciled", severity: observation.Blocking,
			means: "A tool or a controller reconciles a Deployment of the control plane that the migration changes: it would start the " +
				"in-tree cloud loops again, beside the CCM.",
			unseen: unseenControlPlane, find: reconciledComponents,
		},
		{
			id: "MachineControllerMissing", severity: observation.Blocking,
			means: "A Deployment of the machine-controller was not found: kubelets of new Machines could join in-tree, whatever the " +
				"Machines say.",
			unseen: func(o Facts) string {
				return cmp.Or(unseenMachines(o), unseen("the machine-controller", o.MachineController))
			}, find: machineControllerMissing,
		},
	}
}

func leaderElectionOff(o Facts, _ time.Time) []observation.Finding {
	kcm := o.ControlPlane.Value().KCM
	if !kcm.Arguments.Understood() || kcm.Arguments.True("leader-elect", true) {
		return nil
	}
	found := about(
		[]observation.Ref{kcm.Ref},
		"It runs with --leader-elect=false, so all replicas run the cloud loops at once",
		"Remove the flag.",
	)
	if kcm.Replicas <= 1 {
		return severe(observation.Warning, about([]observation.Ref{kcm.Ref}, "It runs with --leader-elect=false, so a rolling update "+
			"runs the loops twice for a moment",
			"Remove the flag, or let the Deployment's strategy be Recreate."))
	}
	return found
}

// unseenLeader: a Lease tells nothing of its holder's life until it was seen to be renewed, or not to be, for as long as it
// lasts.
func unseenLeader(o Facts) string {
	return cmp.Or(unseenControlPlane(o), unseen("KCM's Lease", o.KCMLease))
}

func unknownLeader(o Facts, now time.Time) []observation.Finding {
	kcm, lease := o.ControlPlane.Value().KCM, o.KCMLease.Value()
	if lease.Holder == "" || slices.ContainsFunc(kcm.Pods, func(p observation.Process) bool { return holds(lease.Holder, p) }) {
		return nil
	}
	lasts := time.Duration(lease.DurationSeconds) * time.Second
	switch {
	case !lease.ChangedAt.IsZero() && now.Sub(lease.ChangedAt) < lasts:
		return about([]observation.Ref{lease.Ref}, observation.Say("It is renewed by "+lease.Holder+", which is no pod of ", kcm,
			": that KCM would go on running the cloud loops"), "Find and stop it; it may run on a Node that was part of "+
			"the control plane.")
	case now.Sub(lease.WatchedAt) < lasts:
		return []observation.Finding{observation.NotLookedAt("whether the holder of ", lease,
			" is alive: no pod of KCM holds it, and it was not watched for long enough")}
	}
	return nil
}

// holds follows KCM: an identity begins with the hostname, which is the pod's name, or the Node's in the host network.
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/controllermanager.go#L258
func holds(holder string, process observation.Process) bool {
	return slices.ContainsFunc([]string{process.PodName, process.NodeName, process.Hostname}, func(name string) bool {
		return name != "" && strings.HasPrefix(holder, name+"_")
	})
}

func leaseLong(o Facts, _ time.Time) []observation.Finding {
	kcm := o.ControlPlane.Value().KCM
	lasts, err := time.ParseDuration(kcm.Arguments.Flags["leader-elect-lease-duration"])
	if err != nil || lasts <= longLease {
		return nil
	}
	return about([]observation.Ref{kcm.Ref}, fmt.Sprintf("Its Lease lasts for %s, and so may the time without cloud loops", lasts),
		"Shorten --leader-elect-lease-duration, or choose a quiet hour.")
}

func (o Facts) components() []observation.Component {
	controlPlane := o.ControlPlane.Value()
	if !o.ControlPlane.IsKnown() {
		return nil
	}
	return append([]observation.Component{controlPlane.KCM}, controlPlane.Others...)
}

func rollingOut(o Facts, _ time.Time) []observation.Finding {
	return about(chosen(o.components(), observation.Component.Reference, func(c observation.Component) bool { return !c.RolledOut }),
		"They are being rolled out, so pods of before may still run", "Wait until they are rolled out, or see why they are not.")
}

func podsDiffer(o Facts, _ time.Time) []observation.Finding {
	kcm := o.ControlPlane.Value().KCM
	return about(chosen(kcm.Pods, func(p observation.Process) observation.Ref {
		return observation.Ref{Kind: "Pod", Namespace: kcm.Namespace, Name: p.PodName}
	}, func(p observation.Process) bool {
		return !p.Ended && p.Arguments.Understood() && !slices.Equal(p.Arguments.CloudLoops(), kcm.Arguments.CloudLoops())
	}), observation.Say("They run other cloud loops than the template of ", kcm, " says"),
		"Delete them, and wait until new ones run.")
}

// unclaimedComponents are looked at before the start, because what is found at step Finalize is found too late.
func unclaimedComponents(o Facts, _ time.Time) []observation.Finding {
	var unclaimed, foreign []observation.Text
	for _, neighbor := range o.ControlPlane.Value().Neighbors {
		names := components.InTreeConfiguration(neighbor, o.Provider.Value())
		sentence := observation.Say(neighbor, " ("+neighbor.Field+"): "+strings.Join(names, ", "))
		switch {
		case len(names) > 0 && neighbor.Foreign:
			foreign = append(foreign, sentence)
		case len(names) > 0:
			unclaimed = append(unclaimed, sentence)
		}
	}
	return slices.Concat(
		about(unclaimed, "Their flags have to change, and the spec does not say who owns them", components.Unclaimed),
		severe(observation.Warning, about(foreign, "Their flags have to change, and the spec calls them Foreign",
			"Tell their owners: the steps VolumeMigration and Finalize wait for it.")),
	)
}

// reconciledComponents are those that someone else writes again. A change that he makes himself, as instructed, stays.
func reconciledComponents(o Facts, _ time.Time) []observation.Finding {
	if o.Cluster.Spec.ControlPlane.Instructed() {
		return nil
	}
	var reconciled []observation.Text
	for _, component := range o.components() {
		if len(component.Reconcilers) > 0 {
			reconciled = append(reconciled, observation.Say(component, " ("+strings.Join(component.Reconcilers, ", ")+")"))
		}
	}
	return about(reconciled, "They are reconciled by others, who would start the in-tree cloud loops again beside the CCM",
		"Have the arguments of these containers ignored there and accept this finding, or let the others change them: "+
			"spec.controlPlane.change: Instruct.")
}

func machineControllerMissing(o Facts, _ time.Time) []observation.Finding {
	gap := migration.MachineControllerGap(o.MachineController.Value())
	if gap.Words == "" ||
		len(o.Machines.Value().Machines)+len(o.Machines.Value().Deployments) == 0 &&
			!migration.MachineControllerWanted(o.MachineController.Value()) {
		return nil
	}
	return []observation.Finding{{Message: gap.Words, Named: gap.Objects, Action: migration.MachineControllerRemedy}}
}

func flagChecks() []check {
	return []check{
		{
			id: "FlagRemoved", severity: observation.Blocking,
			means: "A part of the control plane has a flag that its own minor does not know: the next pod of it, which the migration " +
				"makes, does not start.",
			unseen: unseenControlPlane, find: removedFlags,
		},
		{
			id:       "FlagRemovedNext",
			severity: observation.Info,
			means:    "A part of the control plane has a flag or gate that the next minor does not know.",
			unseen:   func(o Facts) string { return cmp.Or(unseenControlPlane(o), unseen("the catalogue", o.Provider)) },
			find:     flagsRemovedNext,
		},
	}
}

// removal of a flag: the first minor whose components exit when they are given it.
type removal struct {
	flag  string
	minor int
	of    func(observation.Component) bool
}

// removals are of what an in-tree cloud provider needed.
// https://github.com/kubernetes/kubernetes/pull/130162 https://github.com/kubernetes/kubernetes/pull/138002
func removals() []removal {
	apiServer := func(c observation.Component) bool { return strings.Contains(c.Container, "apiserver") }
	manager := func(c observation.Component) bool { return strings.Contains(c.Container, "controller-manager") }
	return []removal{{"cloud-provider", 33, apiServer}, {"cloud-config", 33, apiServer}, {"concurrent-service-syncs", 37, manager}}
}

func (o Facts) removedIn(minor int) []observation.Text {
	var found []observation.Text
	for _, component := range o.components() {
		for _, removal := range removals() {
			if _, given := component.Arguments.Flag(removal.flag); given && removal.of(component) && minor >= removal.minor {
				found = append(found, observation.Say(component, " --"+removal.flag))
			}
		}
		// https://github.com/kubernetes/website/blob/main/content/en/docs/reference/command-line-tools-reference/feature-gates/DisableCloudProviders.md
		for _, gate := range []string{"DisableCloudProviders", "DisableKubeletCloudCredentialProviders"} {
			if _, given := component.Arguments.FeatureGate(gate); given && minor >= 33 {
				found = append(found, observation.Say(component, " gate "+gate))
			}
		}
	}
	return found
}

func removedFlags(o Facts, _ time.Time) []observation.Finding {
	return about(
		o.removedIn(o.minor()),
		fmt.Sprintf("Kubernetes 1.%d does not know these, so a new pod with them exits", o.minor()),
		"Remove them.",
	)
}

func flagsRemovedNext(o Facts, _ time.Time) []observation.Finding {
	next := o.removedIn(o.minor() + 1)
	now := observation.Words(o.removedIn(o.minor()))
	next = slices.DeleteFunc(next, func(flag observation.Text) bool { return slices.Contains(now, flag.Words) })
	for _, component := range o.components() {
		for _, gate := range o.Provider.Value().RetiredGates {
			if _, given := component.Arguments.FeatureGate(gate); given {
				next = append(next, observation.Say(component, " gate "+gate))
			}
		}
	}
	return about(next, fmt.Sprintf("Kubernetes 1.%d does not know these any more", o.minor()+1),
		"What step Finalize does not remove has to go before the next upgrade.")
}
