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
func (w *World) Unpause() {
	for _, d := range w.deployments {
		d.paused = false
		d.generation++
	}
}

// DeleteStandaloneMachines deletes every Machine without a MachineSet.
func (w *World) DeleteStandaloneMachines() {
	for _, m := range w.machines {
		if m.set == "" && !m.deleting() {
			w.deleteMachine(m)
		}
	}
}

// DeleteStrangers deletes every Node without a Machine.
func (w *World) DeleteStrangers() {
	w.nodes = slices.DeleteFunc(w.nodes, func(n *node) bool { return n.machine == "" })
}

// Unstick lets every Machine that does not go, or does not come, do so.
func (w *World) Unstick() {
	for _, m := range w.machines {
		m.stuck = false
	}
}

// StickDeletions keeps every Machine that is there now from going when it is deleted, as a PodDisruptionBudget does.
func (w *World) StickDeletions() {
	for _, m := range w.machines {
		m.stuck = true
	}
}

// Boots says whether new Machines get a Node: the cloud may have no more instances.
func (w *World) Boots(on bool) { w.bootless = !on }

// AddPool creates a MachineDeployment; its Machines come by themselves.
func (w *World) AddPool(p Pool) {
	namespace := p.Namespace
	if namespace == "" {
		namespace = machineNamespace
	}
	w.deployments = append(w.deployments, &machineDeployment{
		name: p.Name, namespace: namespace, uid: w.id("md"), replicas: p.Replicas, paused: p.Paused, generation: 1,
		surge: p.surge(), unavailable: p.Unavailable,
	})
}

// Scale sets the replicas of a MachineDeployment.
func (w *World) Scale(name string, replicas int) {
	for _, d := range w.deployments {
		if d.name == name {
			d.replicas = replicas
			d.generation++
			d.guard.exempt = true
		}
	}
}

// DeletePool deletes a MachineDeployment with its Machines.
func (w *World) DeletePool(name string) {
	for _, d := range w.deployments {
		if d.name == name {
			d.deleting = true
		}
	}
}

// OwnRevision changes the template of a MachineDeployment as its owner would; keep says whether our forceRestart value
// stays in it.
func (w *World) OwnRevision(name string, keep bool) {
	for _, d := range w.deployments {
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
func (w *World) Spec(change func(*ucv1.ClusterSpec)) {
	change(&w.cluster.Spec)
	w.cluster.Generation++
}

// Change the Cluster in another way.
func (w *World) Change(change func(*ucv1.Cluster)) { change(w.cluster) }

// Replaced is how many Machines were replaced, or are being.
func (w *World) Replaced() int { return w.invariants.replacing }

// Undo asks for the undo, or takes that back.
func (w *World) Undo(on bool) {
	w.Spec(func(spec *ucv1.ClusterSpec) {
		spec.Handover.Rollback = on
		if !on {
			spec.Handover.RetryAfter = new(metav1.NewTime(w.now))
		}
	})
}

// MakeVolume makes a volume that only the CSI driver can serve.
func (w *World) MakeVolume(name string) {
	w.made = append(w.made, observation.Volume{Name: name, UID: name, Phase: "Bound", Driver: csiDriver})
}

// DeleteVolumes deletes those again.
func (w *World) DeleteVolumes() { w.made = nil }

// AddStandalone makes a Machine without MachineSet, as the webhook stamps it now.
func (w *World) AddStandalone(name string) {
	stamped, _ := w.runs("machine-controller-webhook", "node-external-cloud-provider")
	m := &machine{
		name:       name,
		namespace:  machineNamespace,
		uid:        w.id("machine"),
		annotation: strconv.FormatBool(stamped),
		external:   stamped,
		createdAt:  w.now,
	}
	w.machines = append(w.machines, m)
	w.join(m)
}

// LoseAnnotations takes the two annotations away, as a replace by GitOps does.
func (w *World) LoseAnnotations() { w.cluster.Annotations = nil }

// DeleteCluster deletes the Cluster; its finalizer keeps it.
func (w *World) DeleteCluster() { w.cluster.DeletionTimestamp = new(metav1.NewTime(w.now)) }

// ChangeKCM changes KCM's arguments past us.
func (w *World) ChangeKCM(owner string, change map[string]string) {
	kcm := w.kcm()
	arguments := maps.Clone(kcm.arguments)
	maps.Copy(arguments, change)
	kcm.arguments, kcm.fieldOwner = arguments, owner
	kcm.generation++
}

// LoseFlag takes the flag out of one of the machine-controller's Deployments.
func (w *World) LoseFlag(name string) {
	d := w.workload(name)
	w.patch(d, outcome.ArgumentChange{Remove: []string{d.flag}})
}

// LoseLeadersNode stops the kubelet under KCM's leader for good and deletes its pod with grace 0: the process outlives
// its pod, and goes on renewing.
func (w *World) LoseLeadersNode() {
	for _, p := range w.kcm().pods {
		if p.process.alive() && p.process.leading {
			w.losePod(p)
			return
		}
	}
}

func (w *World) losePod(p *pod) {
	for _, n := range w.managementNodes {
		if n.name == p.node {
			n.downUntil = w.now.Add(24 * time.Hour)
		}
	}
	d := w.kcm()
	d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
	// Its place is taken by another pod, as the Deployment controller would.
	w.createPod(d, p.generation, p.arguments)
}

// SwitchOffLostNodes ends everything on the management nodes that are lost, and deletes them with their pods.
func (w *World) SwitchOffLostNodes() {
	lost := func(name string) bool {
		return slices.ContainsFunc(w.managementNodes, func(n *managementNode) bool {
			return n.name == name && n.downUntil.Sub(w.now) > time.Hour
		})
	}
	for _, p := range slices.Clone(w.processes) {
		if lost(p.node) {
			w.end(p)
		}
	}
	for _, d := range w.workloads {
		d.pods = slices.DeleteFunc(d.pods, func(p *pod) bool { return lost(p.node) })
	}
	w.managementNodes = slices.DeleteFunc(w.managementNodes, func(n *managementNode) bool { return lost(n.name) })
}

// AcceptLostManagers names every recorded process that is not proven to have ended.
func (w *World) AcceptLostManagers() {
	for _, p := range w.facts().Handover.Processes {
		if p.EndedAt == nil {
			w.cluster.Spec.Handover.AcceptLostManagers = append(w.cluster.Spec.Handover.AcceptLostManagers, p.PodName)
		}
	}
}

// StopCCM keeps every CCM from leading, for good.
func (w *World) StopCCM() {
	w.ccmStopped = true
}

// FixCloudConfig makes the cloud accept its configuration, which is another one then.
func (w *World) FixCloudConfig() {
	w.traits.ProbeDies = false
	w.ccm.drop("Deployment")
}

// FixAddresses makes the CCM see the addresses that the kubelets see, by another cloud configuration.
func (w *World) FixAddresses() {
	w.otherAddresses, w.cloudConfig = false, "2"
	w.ccm.drop("Deployment")
}

// DeleteCCM deletes the CCM's Deployment.
func (w *World) DeleteCCM() { w.ccm.drop("Deployment") }

// LeaveFence opens or closes the fence past us, as an earlier Cluster object would have left it.
func (w *World) LeaveFence(open bool) { w.fenceOpen = open }

// AddForeignAddon puts an object that is not ours where one of ours should be.
func (w *World) AddForeignAddon(name string) { w.ccm.foreign = append(w.ccm.foreign, name) }

// RemoveForeignAddons takes them away again.
func (w *World) RemoveForeignAddons() { w.ccm.foreign = nil }
