package simulation

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// A MachineDeployment and its MachineSets have the finalizer foregroundDeletion from the machine-controller, with which each goes
// after what it has. Who asks for a deletion in the background, as we do and kubectl does, takes that finalizer away, so that a
// MachineDeployment goes as soon as the operating-system-manager lets it, and its Machines only then: while that is down, nothing
// goes at all.
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machinedeployment/controller.go#L162
// https://github.com/kubermatic/machine-controller/blob/v1.66.2/pkg/controller/machineset/controller.go#L168
// https://github.com/kubernetes/kubernetes/blob/v1.30.14/staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go (deletionFinalizersForGarbageCollection)
// https://github.com/kubermatic/operating-system-manager/blob/v1.11.3/pkg/controllers/osc/osc_controller.go (Reconcile)

// Delete begins to, in the background.
func (d *MachineDeployment) Delete(now time.Time) { d.Deleting, d.deletedAt = true, now }

func (d *MachineDeployment) finalizers() []string {
	if !d.Deleting || d.cleaned {
		return nil
	}
	return []string{"kubermatic.io/cleanup-operating-system-configs of the operating-system-manager"}
}

// collect is the garbage collector, which runs in KCM, and what the API server does without it.
func (ms *Machines) collect() {
	ms.Deployments = slices.DeleteFunc(ms.Deployments, ms.goes)
	if !ms.w.hasty && !ms.w.Leases.kcmLeads() {
		return
	}
	for _, s := range slices.Clone(ms.Sets) {
		if ms.garbage(s) && ms.w.Chance(0.5) {
			ms.collectMachines(s)
		}
	}
}

// goes says that nothing holds a MachineDeployment that is being deleted.
func (ms *Machines) goes(d *MachineDeployment) bool {
	d.cleaned = d.cleaned || d.Deleting && ms.w.cleans()
	return d.Deleting && d.cleaned && (!d.Foreground || len(ms.SetsOf(d)) == 0)
}

// garbage is a MachineSet without its MachineDeployment, or one for which that waits.
func (ms *Machines) garbage(s *MachineSet) bool {
	d := ms.deploymentOf(s)
	return s.Deployment != "" && (d == nil || d.Deleting && d.Foreground)
}

// collectMachines deletes the Machines of a MachineSet, and then that.
func (ms *Machines) collectMachines(s *MachineSet) {
	left := slices.DeleteFunc(slices.Clone(ms.All), func(m *Machine) bool { return m.Set != s.UID })
	for _, m := range left {
		if !m.Deleting() {
			m.deletedAt = ms.w.Now
			ms.w.Say("garbage collector: deletes Machine %s", m.Name)
		}
	}
	if len(left) == 0 {
		ms.Sets = slices.DeleteFunc(ms.Sets, func(other *MachineSet) bool { return other == s })
	}
}

func (ms *Machines) deploymentOf(s *MachineSet) *MachineDeployment {
	return ms.deployment(s.Deployment)
}

// deployment with that UID; nil: there is none.
func (ms *Machines) deployment(uid string) *MachineDeployment {
	at := slices.IndexFunc(ms.Deployments, func(d *MachineDeployment) bool { return d.UID == uid })
	if at < 0 {
		return nil
	}
	return ms.Deployments[at]
}

// cleans says that someone deletes the bootstrap data of a MachineDeployment that goes, or that there is none.
func (w *World) cleans() bool {
	_, running := w.ControlPlane.Runs(string(observation.OperatingSystemManager), "external-cloud-provider")
	return running || w.Traits.WithoutOperatingSystemManager
}

func (ls *Leases) kcmLeads() bool {
	return slices.ContainsFunc(ls.w.ControlPlane.Processes, func(p *Process) bool { return p.Elects && p.Alive() && p.Leading })
}
