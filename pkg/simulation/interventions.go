package simulation

import (
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// Unpause every MachineDeployment.
func Unpause(w *World) {
	for _, d := range w.machines.deployments {
		d.paused = false
		d.generation++
	}
}

// DeleteStandaloneMachines deletes every Machine without a MachineSet.
func DeleteStandaloneMachines(w *World) {
	for _, m := range w.machines.all {
		if m.set == "" && !m.deleting() {
			w.machines.delete(m)
		}
	}
}

// DeleteStrangers deletes every Node without a Machine.
func DeleteStrangers(w *World) {
	w.nodes.all = slices.DeleteFunc(w.nodes.all, func(n *node) bool { return n.machine == "" })
}

// Unstick lets every Machine that does not go, or does not come, do so.
func Unstick(w *World) {
	for _, m := range w.machines.all {
		m.stuck = false
	}
}

// StickDeletions keeps every Machine that is there now from going when it is deleted, as a PodDisruptionBudget does.
func StickDeletions(w *World) {
	for _, m := range w.machines.all {
		m.stuck = true
	}
}

// Boots says whether new Machines get a Node: the cloud may have no more instances.
func Boots(w *World, on bool) { w.machines.bootless = !on }

// AddPool creates a MachineDeployment; its Machines come by themselves.
func AddPool(w *World, p Pool) {
	namespace := p.Namespace
	if namespace == "" {
		namespace = machineNamespace
	}
	w.machines.deployments = append(w.machines.deployments, &machineDeployment{
		name: p.Name, namespace: namespace, uid: w.id("md"), replicas: p.Replicas, paused: p.Paused, generation: 1,
		surge: p.surge(), unavailable: p.Unavailable,
	})
}

// Scale sets the replicas of a MachineDeployment.
func Scale(w *World, name string, replicas int) {
	for _, d := range w.machines.deployments {
		if d.name == name {
			d.replicas = replicas
			d.generation++
			d.guard.exempt = true
		}
	}
}

// DeletePool deletes a MachineDeployment with its Machines.
func DeletePool(w *World, name string) {
	for _, d := range w.machines.deployments {
		if d.name == name {
			d.deleting = true
		}
	}
}

// OwnRevision changes the template of a MachineDeployment as its owner would; keep says whether our forceRestart value
// stays in it.
func OwnRevision(w *World, name string, keep bool) {
	for _, d := range w.machines.deployments {
		if d.name == name {
			d.revision++
			d.generation++
			d.guard.exempt = true
			if !keep {
				d.restart = ""
			}
		}
	}
}

// Spec changes the Cluster's spec.
func Spec(w *World, change func(*ucv1.ClusterSpec)) {
	change(&w.cluster.Spec)
	w.cluster.Generation++
}

// Change the Cluster in another way.
func Change(w *World, change func(*ucv1.Cluster)) { change(w.cluster) }

// Replaced is how many Machines were replaced, or are being.
func Replaced(w *World) int { return w.invariants.replacing }

// Undo asks for the undo, or takes that back.
func Undo(w *World, on bool) {
	Spec(w, func(spec *ucv1.ClusterSpec) {
		spec.Handover.Rollback = on
		if !on {
			spec.Handover.RetryAfter = new(metav1.NewTime(w.now))
		}
	})
}

// MakeVolume makes a volume that only the CSI driver can serve.
func MakeVolume(w *World, name string) {
	w.storage.made = append(w.storage.made, observation.Volume{Name: name, UID: name, Phase: "Bound", Driver: csiDriver})
}

// DeleteVolumes deletes those again.
func DeleteVolumes(w *World) { w.storage.made = nil }

// AddStandalone makes a Machine without MachineSet, as the webhook stamps it now.
func AddStandalone(w *World, name string) {
	stamped, _ := w.controlPlane.runs("machine-controller-webhook", "node-external-cloud-provider")
	m := &machine{
		name:       name,
		namespace:  machineNamespace,
		uid:        w.id("machine"),
		annotation: strconv.FormatBool(stamped),
		external:   stamped,
		createdAt:  w.now,
	}
	w.machines.all = append(w.machines.all, m)
	w.machines.join(m)
}

// LoseAnnotations takes the two annotations away, as a replace by GitOps does.
func LoseAnnotations(w *World) { w.cluster.Annotations = nil }

// DeleteCluster deletes the Cluster; its finalizer keeps it.
func DeleteCluster(w *World) { w.cluster.DeletionTimestamp = new(metav1.NewTime(w.now)) }

// ChangeKCM changes KCM's arguments past us.
func ChangeKCM(w *World, owner string, change map[string]string) {
	kcm := w.controlPlane.kcm()
	arguments := maps.Clone(kcm.arguments)
	maps.Copy(arguments, change)
	kcm.arguments, kcm.fieldOwner = arguments, owner
	kcm.generation++
}

// LoseFlag takes the flag out of one of the machine-controller's Deployments.
func LoseFlag(w *World, name string) {
	d := w.controlPlane.workload(name)
	w.controlPlane.patch(d, outcome.ArgumentChange{Remove: []string{d.flag}})
}

// LoseLeadersNode stops the kubelet under KCM's leader for good and deletes its pod with grace 0: the process outlives
// its pod, and goes on renewing.
func LoseLeadersNode(w *World) {
	for _, p := range w.controlPlane.kcm().pods {
		if p.process.alive() && p.process.leading {
			losePod(w, p)
			return
		}
	}
}

func losePod(w *World, p *pod) {
	for _, n := range w.controlPlane.hosts {
		if n.name == p.node {
			n.downUntil = w.now.Add(24 * time.Hour)
		}
	}
	d := w.controlPlane.kcm()
	d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
	// Its place is taken by another pod, as the Deployment controller would.
	w.controlPlane.createPod(d, p.generation, p.arguments)
}

// SwitchOffLostNodes ends everything on the management nodes that are lost, and deletes them with their pods.
func SwitchOffLostNodes(w *World) {
	lost := func(name string) bool {
		return slices.ContainsFunc(w.controlPlane.hosts, func(n *managementNode) bool {
			return n.name == name && n.downUntil.Sub(w.now) > time.Hour
		})
	}
	for _, p := range slices.Clone(w.controlPlane.processes) {
		if lost(p.node) {
			w.controlPlane.end(p)
		}
	}
	for _, d := range w.controlPlane.workloads {
		d.pods = slices.DeleteFunc(d.pods, func(p *pod) bool { return lost(p.node) })
	}
	w.controlPlane.hosts = slices.DeleteFunc(w.controlPlane.hosts, func(n *managementNode) bool { return lost(n.name) })
}

// AcceptLostManagers names every recorded process that is not proven to have ended.
func AcceptLostManagers(w *World) {
	for _, p := range w.facts().Handover.Processes {
		if p.EndedAt == nil {
			w.cluster.Spec.Handover.AcceptLostManagers = append(w.cluster.Spec.Handover.AcceptLostManagers, p.PodName)
		}
	}
}

// StopCCM keeps every CCM from leading, for good.
func StopCCM(w *World) {
	w.ccm.stopped = true
}

// FixCloudConfig makes the cloud accept its configuration, which is another one then.
func FixCloudConfig(w *World) {
	w.traits.ProbeDies = false
	w.addons.ccm.drop("Deployment")
}

// FixAddresses makes the CCM see the addresses that the kubelets see, by another cloud configuration.
func FixAddresses(w *World) {
	w.ccm.otherAddresses, w.ccm.cloudConfig = false, "2"
	w.addons.ccm.drop("Deployment")
}

// DeleteCCM deletes the CCM's Deployment.
func DeleteCCM(w *World) { w.addons.ccm.drop("Deployment") }

// LeaveFence opens or closes the fence past us, as an earlier Cluster object would have left it.
func LeaveFence(w *World, open bool) { w.leases.fenceOpen = open }

// AddForeignAddon puts an object that is not ours where one of ours should be.
func AddForeignAddon(w *World, name string) {
	w.addons.ccm.foreign = append(w.addons.ccm.foreign, name)
}

// RemoveForeignAddons takes them away again.
func RemoveForeignAddons(w *World) { w.addons.ccm.foreign = nil }
