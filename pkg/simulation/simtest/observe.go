package simtest

import "github.com/ccm-migration/ccm-migration-controller/pkg/observation"

// FactNames are the facts of an observation that can be unknown.
func FactNames() []string {
	return []string{
		"Contenders",
		"Record",
		"Keeper",
		"NamespaceTerminating",
		"Provider",
		"CloudConfig",
		"ControlPlane",
		"MachineController",
		"Addons",
		"Probe",
		"Fence",
		"KCMLease",
		"CCMLease",
		"CCMProcesses",
		"KCMLeaseRight",
		"Lock",
		"Machines",
		"Nodes",
		"Inventory",
		"Baseline",
		"Proofs",
		"CCMPods",
		"Attachments",
		"OtherManagers",
		"StorageClasses",
		"OldLoadBalancers",
		"Findings",
		"Canary",
		"Drains",
		"Measured",
		"Gone",
		"Bootstraps",
	}
}

// Forget makes a fact one that could not be looked at.
func Forget(o *observation.Observation, fact string) {
	forget := map[string]func(){
		"Contenders":        func() { blank(&o.Contenders) },
		"Record":            func() { blank(&o.Record) },
		"Keeper":            func() { blank(&o.Keeper) },
		"Provider":          func() { blank(&o.Provider) },
		"CloudConfig":       func() { blank(&o.CloudConfig) },
		"ControlPlane":      func() { blank(&o.ControlPlane) },
		"MachineController": func() { blank(&o.MachineController) },
		"Addons":            func() { blank(&o.Addons) },
		"Probe":             func() { blank(&o.Probe) },
		"Fence":             func() { blank(&o.Fence) },
		"KCMLease":          func() { blank(&o.KCMLease) },
		"CCMLease":          func() { blank(&o.CCMLease) },
		"CCMProcesses":      func() { blank(&o.CCMProcesses) },
		"KCMLeaseRight":     func() { blank(&o.KCMLeaseRight) },
		"Lock":              func() { blank(&o.Lock) },
		"Machines":          func() { blank(&o.Machines) },
		"Nodes":             func() { blank(&o.Nodes) },
		"Inventory":         func() { blank(&o.Inventory) },
		"Baseline":          func() { blank(&o.Baseline) },
		"Proofs":            func() { blank(&o.Proofs) },
		"CCMPods":           func() { blank(&o.CCMPods) },
		"Attachments":       func() { blank(&o.Attachments) },
		"OtherManagers":     func() { blank(&o.ForeignCCMs) },
		"StorageClasses":    func() { blank(&o.StorageClasses) },
		"OldLoadBalancers":  func() { blank(&o.OldLoadBalancers) },
		"Findings":          func() { blank(&o.Findings) },
		"Canary":            func() { blank(&o.Canary) },
		"Drains":            func() { blank(&o.Drains) },
		"Measured":          func() { blank(&o.Measured) },
		"Gone":              func() { blank(&o.Gone) },
		"Bootstraps":        func() { blank(&o.Bootstraps) },
		"ServerVersion":     func() { blank(&o.ServerVersion) },

		"NamespaceTerminating": func() { blank(&o.NamespaceTerminating) },
	}
	forget[fact]()
}

func blank[T any](fact *observation.Observed[T]) { *fact = observation.Unknown[T]("timeout") }
