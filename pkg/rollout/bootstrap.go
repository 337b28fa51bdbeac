package rollout

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// bootstrapPause is how long it is until bootstrap data is read again: no watch tells of it.
const bootstrapPause = 5 * time.Second

// BootstrapSecret is where the operating-system-manager writes how machines of a MachineDeployment start their kubelets. The
// Secret that the machine-controller hands to the cloud, <name>-<namespace>-bootstrap-config, only fetches this one.
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go#L341-L342
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/resources/operating_system_config.go#L55
func BootstrapSecret(deployment observation.Ref) observation.Ref {
	return observation.Ref{Kind: "Secret", Namespace: "cloud-init-settings", Name: deployment.Name + "-" + deployment.Namespace +
		"-provisioning-config"}
}

// BootstrapsOf are the MachineDeployments whose bootstrap data is read: the canary until it is proven, and what was told to roll
// until it is replaced. It was written for the revision before until then, and says nothing of the Machines that come.
func BootstrapsOf(o observation.Observation, now time.Time) []observation.Ref {
	in := inputOf(Of(o, now))
	var refs []observation.Ref
	if in.facts.Canary != nil && in.facts.Canary.ProvenAt == nil && o.Machines.IsKnown() && !in.back() {
		_, canary := o.Machines.Value().Split()
		for _, deployment := range canary.Deployments {
			refs = append(refs, deployment.Ref)
		}
	}
	if !armed(in) {
		return refs
	}
	fleet := fleetOf(in)
	for _, pool := range fleet.pools {
		if boots(fleet.view, pool.deployment) {
			refs = append(refs, pool.deployment.Ref)
		}
	}
	return refs
}

// boots says that new Machines of it are made in this roll.
func boots(v machineView, d observation.MachineDeployment) bool {
	return !d.Deleting && !d.Paused && d.Replicas > 0 && toldToRoll(v, d, v.setsOf(d)) && !v.replaced(d)
}

// lookedAtBootstrap is what was read of a MachineDeployment's data; unseen is why it was not.
func lookedAtBootstrap(in input, d observation.MachineDeployment) (data observation.BootstrapData, unseen string) {
	all, known := in.o.Bootstraps.Get()
	switch {
	case !known && in.o.Bootstraps.IsUnknown():
		return data, in.o.Bootstraps.Why()
	case all[d.UID].Kubelet == "":
		return data, "it was not looked for"
	}
	return all[d.UID], ""
}

// bootstrapLacks is what is wrong with data that can be read; empty: nothing, or it cannot be told. Until there is a MachineSet
// of the newest template, what is there was written for the one before.
func bootstrapLacks(
	d observation.MachineDeployment,
	data observation.BootstrapData,
	current observation.MachineSet,
	found bool,
) observation.Text {
	name := observation.Say(BootstrapSecret(d.Ref), " of ", d)
	switch {
	case !data.Told():
		return observation.Text{}
	case !found || data.Revision != current.Revision:
		return observation.Say(name, " is not written for its newest revision")
	case data.Kubelet == observation.BootstrapInTree:
		return observation.Say(name, " starts kubelets without --cloud-provider=external")
	}
	return observation.Text{}
}

// bootstraps are those MachineDeployments whose new Machines would not join external, and for how long that is waited for.
type bootstraps struct {
	late, awaited []observation.Text
	after         time.Duration
	unseen        string
}

// lookAtBootstraps of what is being rolled. Data that is missing is awaited as long as no Machine came without it.
func lookAtBootstraps(in fleet) bootstraps {
	seen := bootstraps{after: bootstrapPause}
	if in.back() || !armed(in.input) {
		return seen
	}
	for _, pool := range in.pools {
		if boots(in.view, pool.deployment) {
			lookAtBootstrap(in, pool.deployment, &seen)
		}
	}
	return seen
}

func lookAtBootstrap(in fleet, d observation.MachineDeployment, seen *bootstraps) {
	data, unseen := lookedAtBootstrap(in.input, d)
	current, found := currentSet(in.view.setsOf(d))
	lacks := bootstrapLacks(d, data, current, found)
	rest := in.view.initialization - in.view.now.Sub(bootstrapDueSince(current))
	switch {
	case unseen != "":
		seen.unseen = unseen
	case data.Kubelet == observation.BootstrapMissing && writesBootstraps(in.input) && !anyJoined(in.view, current):
		seen.awaited = append(seen.awaited, observation.Say(BootstrapSecret(d.Ref), " of ", d, " is not there yet"))
	case lacks.Words != "" && found && rest <= 0:
		seen.late = append(seen.late, lacks)
	case lacks.Words != "":
		seen.awaited, seen.after = append(seen.awaited, lacks), observation.Sooner(seen.after, rest)
	}
}

// bootstrapDueSince is from when on its bootstrap data is to be written: a template that goes back to what it was has a
// MachineSet of long ago.
func bootstrapDueSince(s observation.MachineSet) time.Time {
	if s.CurrentSince.After(s.CreatedAt) {
		return s.CurrentSince
	}
	return s.CreatedAt
}

// writesBootstraps says that the cluster has an operating-system-manager.
func writesBootstraps(in input) bool {
	return in.o.Cluster.Spec.MachineController.OperatingSystemManager.Mode != ucv1.OperatingSystemManagerNone
}

func currentSet(sets []observation.MachineSet) (observation.MachineSet, bool) {
	for _, set := range sets {
		if set.Current {
			return set, true
		}
	}
	return observation.MachineSet{}, false
}

// anyJoined says that a Machine of a MachineSet has a Node.
func anyJoined(v machineView, set observation.MachineSet) bool {
	return len(v.only(set, func(m observation.Machine) bool { return m.NodeName != "" })) > 0
}

// bootstrapsExternal comes before anything more is rolled, and before a step: what was rolled last shows what the next Machines
// get.
func bootstrapsExternal(in fleet) outcome.Outcome {
	seen := lookAtBootstraps(in)
	switch {
	case seen.unseen != "":
		return outcome.CannotLook("the bootstrap data of Machines", seen.unseen)
	case len(seen.awaited) > 0:
		return outcome.WaitsUntil(ucv1.WaitingForBootstrapDataReason, observation.Say("Nothing more is rolled until bootstrap data "+
			"starts external kubelets: ", observation.Names(seen.awaited), "."), seen.after)
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

func bootstrapsLate(late []observation.Text) outcome.Outcome {
	return outcome.Fails(ucv1.BootstrapDataNotExternalReason, "Nothing more is rolled, because new Machines would not join "+
		"external: ", observation.Names(late),
		". Look at the logs of the operating-system-manager, and at the OperatingSystemProfile that the MachineDeployment names.")
}

// doubtCanary adds to what a canary lacks that its bootstrap data is wrong, which is known long before its Machine is late. What
// cannot be told of the data is left out of the proof.
func doubtCanary(in input, seen observation.Machines, lacks []observation.Text, deadline time.Time) canaryDoubt {
	doubt := canaryDoubt{lacks: lacks, deadline: deadline, awaits: ucv1.ProvingCanaryReason, fails: ucv1.CanaryFailedReason}
	if len(seen.Deployments) == 0 {
		return doubt
	}
	d := seen.Deployments[0]
	data, unseen := lookedAtBootstrap(in, d)
	current, found := currentSet(seen.Sets)
	doubt.unseen = unseen
	if wrong := bootstrapLacks(d, data, current, found); wrong.Words != "" && found {
		doubt.lacks = []observation.Text{wrong}
		doubt.awaits, doubt.fails = ucv1.WaitingForBootstrapDataReason, ucv1.BootstrapDataNotExternalReason
		doubt.pause = bootstrapPause
		if earlier := in.facts.Canary.StartedAt.Add(initializationDeadline(in)); earlier.Before(deadline) {
			doubt.deadline = earlier
		}
	}
	if reason := noBootstrapProof(data.Kubelet); len(lacks) == 0 && !slices.Contains(in.facts.Canary.WithoutProof, reason) {
		doubt.withoutProof = reason
	}
	return doubt
}

func noBootstrapProof(kubelet observation.BootstrapKubelet) string {
	return map[observation.BootstrapKubelet]string{
		observation.BootstrapNotTold: "its bootstrap data, which is not understood",
		observation.BootstrapRefused: "its bootstrap data, which may not be read",
		observation.BootstrapMissing: "its bootstrap data: there is none",
	}[kubelet]
}
