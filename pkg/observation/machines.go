package observation

import (
	"strings"
	"time"
)

// MachineControllerProgram is what a Deployment of the machine-controller runs, whatever its name is.
type MachineControllerProgram string

// The programs that decide together what kubelet a new Machine gets.
const (
	MachineController      MachineControllerProgram = "machine-controller"
	MachineWebhook         MachineControllerProgram = "machine-controller-webhook"
	OperatingSystemManager MachineControllerProgram = "operating-system-manager"
)

// MachineControllerDeployment is one of the machine-controller's Deployments.
type MachineControllerDeployment struct {
	Component
	Program MachineControllerProgram
	// Flag that makes it hand out external kubelets, such as -node-external-cloud-provider.
	Flag string
	// InUserCluster says in which cluster it is.
	InUserCluster bool
	// Missing says that no such Deployment exists; Named, that the spec gives its name.
	Missing, Named bool
	// Denied says that it exists although the spec says that there is none.
	Denied bool
}

// Flagged says that its arguments have the flag.
func (d MachineControllerDeployment) Flagged() bool {
	return d.Arguments.True(strings.TrimLeft(d.Flag, "-"), false)
}

// Machines are the objects of the machine-controller.
type Machines struct {
	Deployments []MachineDeployment
	Sets        []MachineSet
	Machines    []Machine
}

// Split takes the canary's objects out of the Machines: it is no part of what is rolled.
func (m Machines) Split() (others, canary Machines) {
	deployments, sets := map[string]bool{}, map[string]bool{}
	for _, deployment := range m.Deployments {
		into := &others
		if deployment.Canary {
			into, deployments[deployment.UID] = &canary, true
		}
		into.Deployments = append(into.Deployments, deployment)
	}
	for _, set := range m.Sets {
		into := &others
		if deployments[set.Deployment] {
			into, sets[set.UID] = &canary, true
		}
		into.Sets = append(into.Sets, set)
	}
	for _, machine := range m.Machines {
		into := &others
		if sets[machine.Set] || machine.OfCanary {
			into = &canary
		}
		into.Machines = append(into.Machines, machine)
	}
	return others, canary
}

// MachineDeployment is a MachineDeployment of the machine-controller.
type MachineDeployment struct {
	Ref
	Paused   bool
	Deleting bool
	// DeletingSince is zero unless it is being deleted; Finalizers are those that hold it then, with whose they are where that is
	// known. The garbage collector's, which waits for its Machines, is none of them.
	DeletingSince time.Time
	Finalizers    []string
	// RestartValue is forceRestart in the template's metadata.
	RestartValue string
	Replicas     int32
	// Version and Generation of the object as it was seen.
	Version    string
	Generation int64
	// MaxSurge and MaxUnavailable in whole Machines, as the machine-controller resolves them; LimitProblem says why one of them
	// cannot be read, which allows nothing.
	MaxSurge, MaxUnavailable int32
	LimitProblem             Text
	// Settled says that the status is about the newest template and that there are as many Machines as replicas, all of that
	// template. How many of them are available is not asked: none ever is while minReadySeconds is endless.
	Settled bool
	Guard
	// Refusal of the last write of ours about it, as long as it is refused.
	Refusal Refusal
}

// Refusal is that of a webhook or a policy.
type Refusal struct {
	// By whom, as "webhook NAME"; empty: nothing is refused. Since when, as far as this process knows.
	By    string
	Since time.Time
	Of    RefusedWrite
	// Asked is what was asked for, as outcome.Action.Asks has it; empty for a canary, which is like its MachineDeployment is now.
	Asked string
}

// RefusedWrite is what is refused about a MachineDeployment.
type RefusedWrite int

const (
	// RefusedChange is a change of its own.
	RefusedChange RefusedWrite = iota
	// RefusedCanary is a canary like it.
	RefusedCanary
	// RefusedStep is a change of its Machines or MachineSets, by which old Machines go.
	RefusedStep
)

// Guard is how a MachineDeployment stands with the breaker, and with the canary.
type Guard struct {
	// MinReadySeconds that it has, and whether they are ours; MinReadyOwner is who else wants them, or empty.
	MinReadySeconds int32
	MinReadyOurs    bool
	MinReadyOwner   string
	// Canary says that it is ours, for the canary.
	Canary bool
}

// MachineSet is a MachineSet of the machine-controller.
type MachineSet struct {
	Ref
	// Deployment is the UID of the MachineDeployment that owns it, or empty.
	Deployment   string
	RestartValue string
	CreatedAt    time.Time
	Replicas     int32
	// Version is its resourceVersion.
	Version string
	// Revision is the number that the machine-controller gave it.
	Revision string
	// Current says that its template is the MachineDeployment's, since then where that was seen to become so.
	Current      bool
	CurrentSince time.Time
}

// Machine is a Machine of the machine-controller.
type Machine struct {
	Ref
	// Set is the UID of the MachineSet that owns it, or empty.
	Set string
	// Annotation is the value of ExternalCloudProviderAnnotation.
	Annotation string
	NodeName   string
	CreatedAt  time.Time
	Deleting   bool
	// DeletingSince is zero unless it is being deleted.
	DeletingSince time.Time
	// Finalizers that whoever makes Machines does not set.
	Finalizers []string
	// Problem is the Machine's own error message.
	Problem string
	// OfCanary says that it was made for the canary.
	OfCanary bool
	// GoesFirst says that the machine-controller takes it first when it scales the MachineSet down.
	GoesFirst bool
}

// Preferred says that the machine-controller takes it before others when it scales a MachineSet down: marked, or with an error.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/delete_policy.go
func (m Machine) Preferred() bool { return m.GoesFirst || m.Problem != "" }

// BootstrapKubelet is how a new Machine starts its kubelet, as far as its bootstrap data can be read.
type BootstrapKubelet string

// What bootstrap data says. The zero value is none of them: no one looked.
const (
	// BootstrapExternal starts it with --cloud-provider=external, BootstrapInTree with another one or none.
	BootstrapExternal BootstrapKubelet = "External"
	BootstrapInTree   BootstrapKubelet = "InTree"
	// BootstrapNotTold is data in a form that is not understood, BootstrapRefused data that we may not read.
	BootstrapNotTold BootstrapKubelet = "NotToldApart"
	BootstrapRefused BootstrapKubelet = "Refused"
	// BootstrapMissing is data that does not exist.
	BootstrapMissing BootstrapKubelet = "Missing"
)

// BootstrapData is what was read of the bootstrap data of one MachineDeployment, without any content of it.
type BootstrapData struct {
	Kubelet BootstrapKubelet
	// Revision of the MachineDeployment that it was written for. The machine-controller boots no Machine of another one with it.
	// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machine/controller.go#L841-L844
	Revision string
}

// Told says that it can be read.
func (d BootstrapData) Told() bool {
	return d.Kubelet == BootstrapExternal || d.Kubelet == BootstrapInTree
}
