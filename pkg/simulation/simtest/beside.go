package simtest

import (
	"maps"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// makeBeside: where the minor has gates, all of the control plane is ours, unless the scenario says otherwise.
func makeBeside(w *World) {
	beside := w.scenario.Beside
	if beside == nil && len(w.Traits.Gates) > 0 {
		beside = map[string]ucv1.ComponentOwnership{"kube-apiserver": ucv1.OursComponent, "kube-scheduler": ucv1.OursComponent}
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		arguments := map[string]string{"v": "2"}
		if name == "kube-apiserver" {
			arguments = map[string]string{"cloud-provider": "simcloud"}
		}
		w.ControlPlane.Add(name, "", 1, arguments)
		claim(w, name, beside[name])
	}
}

func claim(w *World, name string, ownership ucv1.ComponentOwnership) {
	controlPlane := &w.Cluster.Spec.ControlPlane
	spec := &ucv1.ControlPlaneComponent{Ownership: ownership}
	switch {
	case ownership == simulation.Unmentioned:
	case name == "kube-apiserver":
		controlPlane.KubeAPIServer = spec
	case name == "kube-scheduler":
		controlPlane.KubeScheduler = spec
	}
}

// Claim says in the spec whose all those are that it does not mention.
func Claim(w *World, ownership ucv1.ComponentOwnership) {
	for _, d := range w.ControlPlane.Workloads {
		if simulation.IsBeside(d) && w.ControlPlane.Ownership(d.Name) == simulation.Unmentioned {
			claim(w, d.Name, ownership)
		}
	}
	w.Cluster.Generation++
}

// ConfigureForeign does what the owners of foreign components are waited for.
func ConfigureForeign(w *World) {
	for _, d := range w.ControlPlane.Workloads {
		if simulation.IsBeside(d) && w.ControlPlane.Ownership(d.Name) == ucv1.ForeignComponent {
			d.Arguments = map[string]string{"feature-gates": gatesFlag(w.Provider().MigrationGates)}
			d.Generation++
		}
	}
}

// attend does what a condition asks for about components beside KCM.
func attend(w *World) {
	switch waits := w.last.Wait; {
	case Stalled(ucv1.ComponentUnclaimedReason)(w):
		w.Say("person: says whose the control plane is")
		Claim(w, []ucv1.ComponentOwnership{ucv1.OursComponent, ucv1.ForeignComponent}[w.Rng.IntN(2)])
	case waits != nil && waits.Reason == ucv1.WaitingForAdministratorReason && strings.Contains(waits.Message, "owners"):
		w.Say("person: changes a foreign component")
		ConfigureForeign(w)
	}
}

func gatesFlag(gates map[string]bool) string {
	pairs := []string{"Other=true"}
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		pairs = append(pairs, name+"=true")
	}
	return strings.Join(pairs, ",")
}

// checkBeside: what is claimed of the control plane is so in all of its Deployments, whatever the spec says of them.
func checkBeside(i *invariants, w *World, d migration.Decision) {
	for _, row := range d.Rows {
		for _, deployment := range w.ControlPlane.Workloads {
			if !row.Holds || !simulation.IsBeside(deployment) || w.Facts().Origin != ucv1.OriginMigrating {
				continue
			}
			for _, p := range deployment.Pods {
				if problem := inTree(w, row.Step, p.Arguments); problem != "" && p.Process.Alive() && !w.settling() {
					i.fail("row %s holds, and %s has %s", row.Step, deployment.Name, problem)
				}
			}
		}
	}
}

// settling: what someone else changed lately need not have been seen yet.
func (w *World) settling() bool { return !w.disturbed.IsZero() && w.Now.Sub(w.disturbed) < settling }

func inTree(w *World, step ucv1.Step, flags map[string]string) string {
	arguments := observation.Arguments{Flags: flags}
	switch provider, _ := arguments.Flag("cloud-provider"); {
	case step == ucv1.StepFinalize && provider != "":
		return "--cloud-provider=" + provider
	case step == ucv1.StepVolumeMigration && w.Facts().CompletedAt == nil:
		for gate, want := range w.Traits.Gates {
			if value, given := arguments.FeatureGate(gate); !given || value != want {
				return "not " + gate
			}
		}
	}
	return ""
}
