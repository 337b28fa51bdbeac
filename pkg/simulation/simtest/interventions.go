package simtest

import (
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// Unpause every MachineDeployment.
func Unpause(w *World) {
	for _, d := range w.Machines.Deployments {
		d.Paused = false
		d.Stored(w.Now)
	}
}

// DeleteStandaloneMachines deletes every Machine without a MachineSet.
func DeleteStandaloneMachines(w *World) {
	for _, m := range w.Machines.All {
		if m.Set == "" && !m.Deleting() {
			w.Machines.Delete(m)
		}
	}
}

// DeleteStrangers deletes every Node without a Machine.
func DeleteStrangers(w *World) {
	w.Nodes.All = slices.DeleteFunc(w.Nodes.All, func(n *simulation.Node) bool { return n.Machine == "" })
}

// Unstick lets every Machine that does not go, or does not come, do so.
func Unstick(w *World) {
	for _, m := range w.Machines.All {
		m.Stuck = false
	}
}

// StickDeletions keeps every Machine that is there now from going when it is deleted, as a PodDisruptionBudget does.
func StickDeletions(w *World) {
	for _, m := range w.Machines.All {
		m.Stuck = true
	}
}

// Boots says whether new Machines get a Node: the cloud may have no more instances.
func Boots(w *World, on bool) { w.Machines.Bootless = !on }

// AddPool creates a MachineDeployment; its Machines come by themselves.
func AddPool(w *World, p Pool) {
	namespace := p.Namespace
	if namespace == "" {
		namespace = simulation.MachineNamespace
	}
	w.Machines.Deployments = append(w.Machines.Deployments, &simulation.MachineDeployment{
		Name: p.Name, Namespace: namespace, UID: w.ID("md"), Replicas: p.Replicas, Paused: p.Paused, Generation: 1,
		Surge: p.surge(), Unavailable: p.Unavailable,
	})
}

// Scale sets the replicas of a MachineDeployment.
func Scale(w *World, name string, replicas int) {
	for _, d := range w.Machines.Deployments {
		if d.Name == name {
			d.Replicas = replicas
			d.Stored(w.Now)
			d.Guard.Exempt = true
		}
	}
}

// Refuse has a webhook refuse such writes about a MachineDeployment, or no more.
func Refuse(w *World, name string, of observation.RefusedWrite, on bool) {
	for _, d := range w.Machines.Deployments {
		switch {
		case d.Name != name:
		case on:
			d.Webhook.Refuses = of
			d.Webhook.RefusesFrom, d.Webhook.RefusesUntil = w.Now, w.Now.Add(24*time.Hour)
		default:
			d.Webhook.RefusesUntil = w.Now
		}
	}
}

// SkipEvictions annotates every Node, so that nothing is drained.
func SkipEvictions(w *World) {
	for _, m := range w.Machines.All {
		m.SkipsEviction = true
	}
}

// DeletePool deletes a MachineDeployment with its Machines.
func DeletePool(w *World, name string) {
	for _, d := range w.Machines.Deployments {
		if d.Name == name {
			d.Foreground = w.Chance(0.5) // A client that says nothing of how.
			d.Delete(w.Now)
		}
	}
}

// OwnRevision changes the template of a MachineDeployment as its owner would; keep says whether our forceRestart value
// stays in it.
func OwnRevision(w *World, name string, keep bool) {
	for _, d := range w.Machines.Deployments {
		if d.Name == name {
			d.Revision++
			d.Generation++
			d.Guard.Exempt = true
			if !keep {
				d.Restart = ""
			}
		}
	}
}

// Spec changes the Cluster's spec.
func Spec(w *World, change func(*ucv1.ClusterSpec)) {
	change(&w.Cluster.Spec)
	w.Cluster.Generation++
}

// Change the Cluster in another way.
func Change(w *World, change func(*ucv1.Cluster)) { change(w.Cluster) }

// Replaced is how many Machines were replaced, or are being.
func Replaced(w *World) int { return w.invariants.replacing }

// Rollback asks for the rollback, or takes that back.
func Rollback(w *World, on bool) {
	Spec(w, func(spec *ucv1.ClusterSpec) {
		spec.Handover.Rollback = on
		if !on {
			spec.Handover.RetryAfter = new(metav1.NewTime(w.Now))
		}
	})
}

// MakeVolume makes a volume that only the CSI driver can serve.
func MakeVolume(w *World, name string) {
	w.Storage.Made = append(w.Storage.Made, observation.Volume{Name: name, UID: name, Phase: "Bound", Driver: simulation.CSIDriver})
}

// DeleteVolumes deletes those again.
func DeleteVolumes(w *World) { w.Storage.Made = nil }

// AddStandalone makes a Machine without MachineSet, as the webhook stamps it now: it never boots.
func AddStandalone(w *World, name string) {
	stamped, _ := w.ControlPlane.Runs("machine-controller-webhook", "node-external-cloud-provider")
	m := &simulation.Machine{
		Name:       name,
		Namespace:  simulation.MachineNamespace,
		UID:        w.ID("machine"),
		Annotation: strconv.FormatBool(stamped),
		External:   stamped,
		CreatedAt:  w.Now,
	}
	w.Machines.All = append(w.Machines.All, m)
}

// LoseAnnotations takes the two annotations away, as a replace by GitOps does.
func LoseAnnotations(w *World) { w.Cluster.Annotations = nil }

// DeleteCluster deletes the Cluster; its finalizer keeps it.
func DeleteCluster(w *World) { w.Cluster.DeletionTimestamp = new(metav1.NewTime(w.Now)) }

// ChangeKCM changes KCM's arguments past us.
func ChangeKCM(w *World, owner string, change map[string]string) {
	kcm := w.ControlPlane.KCM()
	arguments := maps.Clone(kcm.Arguments)
	maps.Copy(arguments, change)
	kcm.Arguments, kcm.FieldOwner = arguments, owner
	kcm.Generation++
}

// LoseFlag takes the flag out of one of the machine-controller's Deployments.
func LoseFlag(w *World, name string) {
	d := w.ControlPlane.Workload(name)
	w.ControlPlane.Patch(d, outcome.ArgumentChange{Remove: []string{d.Flag}})
}

// LoseLeadersNode stops the kubelet under KCM's leader for good and deletes its pod with grace 0: the process outlives
// its pod, and goes on renewing.
func LoseLeadersNode(w *World) {
	for _, p := range w.ControlPlane.KCM().Pods {
		if p.Process.Alive() && p.Process.Leading {
			losePod(w, p)
			return
		}
	}
}

func losePod(w *World, p *simulation.Pod) {
	for _, n := range w.ControlPlane.Hosts {
		if n.Name == p.Node {
			n.DownUntil = w.Now.Add(24 * time.Hour)
		}
	}
	d := w.ControlPlane.KCM()
	d.Pods = slices.DeleteFunc(d.Pods, func(other *simulation.Pod) bool { return other == p })
	// Its place is taken by another pod, as the Deployment controller would.
	w.ControlPlane.CreatePod(d, p.Generation, p.Arguments)
}

// SwitchOffLostNodes ends everything on the management nodes that are lost, and deletes them with their pods.
func SwitchOffLostNodes(w *World) {
	lost := func(name string) bool {
		return slices.ContainsFunc(w.ControlPlane.Hosts, func(n *simulation.ManagementNode) bool {
			return n.Name == name && n.DownUntil.Sub(w.Now) > time.Hour
		})
	}
	for _, p := range slices.Clone(w.ControlPlane.Processes) {
		if lost(p.Node) {
			w.ControlPlane.End(p)
		}
	}
	for _, d := range w.ControlPlane.Workloads {
		d.Pods = slices.DeleteFunc(d.Pods, func(p *simulation.Pod) bool { return lost(p.Node) })
	}
	w.ControlPlane.Hosts = slices.DeleteFunc(w.ControlPlane.Hosts, func(n *simulation.ManagementNode) bool { return lost(n.Name) })
}

// AcceptLostManagers names every recorded process that is not proven to have ended.
func AcceptLostManagers(w *World) {
	for _, p := range w.Facts().Handover.Processes {
		if p.EndedAt == nil {
			w.Cluster.Spec.Handover.AcceptLostManagers = append(w.Cluster.Spec.Handover.AcceptLostManagers, p.PodName)
		}
	}
}

// StopCCM keeps every CCM from leading, for good.
func StopCCM(w *World) {
	w.CCM.Stopped = true
}

// FixCloudConfig makes the cloud accept its configuration, which is another one then.
func FixCloudConfig(w *World) {
	w.Traits.ProbeDies = false
	w.Addons.CCM.Drop("Deployment")
}

// FixAddresses makes the CCM see the addresses that the kubelets see, by another cloud configuration.
func FixAddresses(w *World) {
	w.CCM.OtherAddresses, w.CCM.CloudConfig = false, "2"
	w.Addons.CCM.Drop("Deployment")
}

// DeleteCCM deletes the CCM's Deployment.
func DeleteCCM(w *World) { w.Addons.CCM.Drop("Deployment") }

// LeaveFence opens or closes the fence past us, as an earlier Cluster object would have left it.
func LeaveFence(w *World, open bool) { w.Leases.FenceOpen = open }

// AddForeignAddon puts an object that is not ours where one of ours should be.
func AddForeignAddon(w *World, object observation.Ref, owner string) {
	w.Addons.CCM.Foreign = append(w.Addons.CCM.Foreign, observation.Say(object, " ("+owner+")"))
}

// RemoveForeignAddons takes them away again.
func RemoveForeignAddons(w *World) { w.Addons.CCM.Foreign = nil }
