package simulation

import (
	"maps"
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Unmentioned is a component beside KCM that the spec says nothing about.
const Unmentioned ucv1.ComponentOwnership = "Unmentioned"

func isBeside(d *workload) bool { return strings.HasPrefix(d.name, "kube-") && d.name != kcmName }

// makeBeside: where the minor has gates, all of the control plane is ours, unless the scenario says otherwise.
func makeBeside(w *World) {
	beside := w.scenario.Beside
	if beside == nil && len(w.traits.Gates) > 0 {
		beside = map[string]ucv1.ComponentOwnership{"kube-apiserver": ucv1.OursComponent, "kube-scheduler": ucv1.OursComponent}
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		arguments := map[string]string{"v": "2"}
		if name == "kube-apiserver" {
			arguments = map[string]string{"cloud-provider": "simcloud"}
		}
		w.controlPlane.add(name, "", 1, arguments)
		claim(w, name, beside[name])
	}
}

func claim(w *World, name string, ownership ucv1.ComponentOwnership) {
	controlPlane := &w.cluster.Spec.ControlPlane
	spec := &ucv1.ControlPlaneComponent{Ownership: ownership}
	switch {
	case ownership == Unmentioned:
	case name == "kube-apiserver":
		controlPlane.KubeAPIServer = spec
	case name == "kube-scheduler":
		controlPlane.KubeScheduler = spec
	}
}

// ownership of a component beside KCM. What was observed of a real cluster is there only if it is ours.
func (cp *ControlPlane) ownership(name string) ucv1.ComponentOwnership {
	spec := map[string]*ucv1.ControlPlaneComponent{
		"kube-apiserver": cp.w.cluster.Spec.ControlPlane.KubeAPIServer, "kube-scheduler": cp.w.cluster.Spec.ControlPlane.KubeScheduler,
	}[name]
	switch {
	case cp.w.real != nil || spec != nil && spec.Ownership != ucv1.ForeignComponent:
		return ucv1.OursComponent
	case spec != nil:
		return ucv1.ForeignComponent
	}
	return Unmentioned
}

// Claim says in the spec whose all those are that it does not mention.
func Claim(w *World, ownership ucv1.ComponentOwnership) {
	for _, d := range w.controlPlane.workloads {
		if isBeside(d) && w.controlPlane.ownership(d.name) == Unmentioned {
			claim(w, d.name, ownership)
		}
	}
	w.cluster.Generation++
}

// ConfigureForeign does what the owners of foreign components are waited for.
func ConfigureForeign(w *World) {
	for _, d := range w.controlPlane.workloads {
		if isBeside(d) && w.controlPlane.ownership(d.name) == ucv1.ForeignComponent {
			d.arguments = map[string]string{"feature-gates": gatesFlag(w.provider().MigrationGates)}
			d.generation++
		}
	}
}

// attend does what a condition asks for about components beside KCM.
func attend(w *World) {
	switch waits := w.last.Wait; {
	case Stalled(ucv1.ComponentUnclaimedReason)(w):
		w.say("person: says whose the control plane is")
		Claim(w, []ucv1.ComponentOwnership{ucv1.OursComponent, ucv1.ForeignComponent}[w.rng.IntN(2)])
	case waits != nil && waits.Reason == ucv1.WaitingForAdministratorReason && strings.Contains(waits.Message, "owners"):
		w.say("person: changes a foreign component")
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

// observeBeside is what a reader of Deployments sees beside KCM. What is not ours in a real cluster keeps its arguments, and its
// pods get those of their template.
func (cp *ControlPlane) observeBeside(controlPlane *observation.ControlPlane) {
	if cp.w.real != nil {
		seen := cp.w.real.Observation.ControlPlane.Value()
		controlPlane.NotSeen = seen.NotSeen
		for _, neighbor := range seen.Neighbors {
			neighbor.Pods = nil
			controlPlane.Neighbors = append(controlPlane.Neighbors, neighbor)
		}
	}
	for _, d := range cp.workloads {
		if !isBeside(d) {
			continue
		}
		ownership := cp.ownership(d.name)
		if ownership == ucv1.OursComponent {
			controlPlane.Others = append(controlPlane.Others, cp.observe(d))
			continue
		}
		controlPlane.Neighbors = append(controlPlane.Neighbors, observation.Neighbor{
			Component: cp.observe(d), Field: "spec.controlPlane", Foreign: ownership == ucv1.ForeignComponent,
		})
	}
}

// checkBeside: what is claimed of the control plane is so in all of its Deployments, whatever the spec says of them.
func (i *invariants) checkBeside(w *World, d migration.Decision) {
	for _, row := range d.Rows {
		for _, deployment := range w.controlPlane.workloads {
			if !row.Holds || !isBeside(deployment) || w.facts().Origin != ucv1.OriginMigrating {
				continue
			}
			for _, p := range deployment.pods {
				if problem := inTree(w, row.Step, p.arguments); problem != "" && p.process.alive() && !w.settling() {
					i.fail("row %s holds, and %s has %s", row.Step, deployment.name, problem)
				}
			}
		}
	}
}

// settling: what someone else changed lately need not have been seen yet.
func (w *World) settling() bool { return !w.disturbed.IsZero() && w.now.Sub(w.disturbed) < settling }

func inTree(w *World, step ucv1.Step, flags map[string]string) string {
	arguments := observation.Arguments{Flags: flags}
	switch provider, _ := arguments.Flag("cloud-provider"); {
	case step == ucv1.StepFinalize && provider != "":
		return "--cloud-provider=" + provider
	case step == ucv1.StepVolumeMigration && w.facts().CompletedAt == nil:
		for gate, want := range w.traits.Gates {
			if value, given := arguments.FeatureGate(gate); !given || value != want {
				return "not " + gate
			}
		}
	}
	return ""
}
