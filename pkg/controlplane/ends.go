package controlplane

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// maxBecause is the length of endedBecause in the API.
const maxBecause = 253

// recordedProcesses are the processes that the Cluster's status asks about, by pod UID.
func recordedProcesses(cluster *ucv1.Cluster) map[types.UID]ucv1.ManagerProcess {
	recorded := map[types.UID]ucv1.ManagerProcess{}
	if handover := cluster.Status.Handover; handover != nil {
		for _, process := range handover.Processes {
			recorded[types.UID(process.PodUID)] = process
		}
	}
	return recorded
}

// Processes returns the recorded KCM processes of the cluster with what is known of their ends by now. plane must have
// been observed for the same cluster. A record stands for its pod: when the container was restarted with arguments that
// run cloud loops, the record goes on with the new container.
func (r *Reader) Processes(cluster *ucv1.Cluster, plane observation.ControlPlane) []ucv1.ManagerProcess {
	handover := cluster.Status.Handover
	if handover == nil {
		return nil
	}
	pods := map[string]*observation.Process{}
	for i := range plane.KCM.Pods {
		pods[plane.KCM.Pods[i].PodUID] = &plane.KCM.Pods[i]
	}
	now := metav1.NewMicroTime(r.now())
	processes := make([]ucv1.ManagerProcess, 0, len(handover.Processes))
	for i := range handover.Processes {
		process := *handover.Processes[i].DeepCopy()
		switch pod := pods[process.PodUID]; {
		case process.ConfigHash != "":
			r.followStatic(&process, cluster, plane, now)
		case process.EndedAt != nil:
		case pod != nil:
			followPod(&process, pod, now)
			if process.EndedAt == nil && pod.Finished && isAccepted(cluster, process) {
				process.VanishedAt = &now // Its end is concluded, not seen.
				ended(&process, now, acceptedBecause)
			}
		default:
			r.followVanished(&process, cluster, plane.ManagementNodes, now)
		}
		processes = append(processes, process)
	}
	return processes
}

// followPod brings the record up to what its pod shows.
func followPod(process *ucv1.ManagerProcess, pod *observation.Process, now metav1.MicroTime) {
	process.VanishedAt = nil
	process.GracePeriodSeconds = max(process.GracePeriodSeconds, pod.GracePeriodSeconds)
	if process.NodeName == "" {
		process.NodeName = pod.NodeName
	}
	if process.BootID == "" {
		process.BootID = pod.BootID
	}
	replaced := process.ContainerID != "" && pod.ContainerID != "" && process.ContainerID != pod.ContainerID
	if replaced && pod.Arguments.Understood() && len(pod.Arguments.CloudLoops()) == 0 {
		ended(process, now, fmt.Sprintf("Pod %s runs a newer container, without cloud loops", pod.PodName))
		return
	}
	if pod.ContainerID != "" {
		process.ContainerID = pod.ContainerID
	}
	if pod.Ended {
		ended(process, now, fmt.Sprintf("the container of Pod %s was seen terminated", pod.PodName))
	}
}

// followVanished looks for a proof of the end of a process whose pod is gone, which proves nothing by itself.
func (r *Reader) followVanished(
	process *ucv1.ManagerProcess,
	cluster *ucv1.Cluster,
	nodes map[string]observation.ManagementNode,
	now metav1.MicroTime,
) {
	if r.Ledger != nil {
		if at, why, ok := r.Ledger.Ended(process.PodUID, process.ContainerID); ok {
			// Seen after all: the watch was behind our look.
			process.VanishedAt = nil
			ended(process, metav1.NewMicroTime(at), why)
			return
		}
	}
	if process.VanishedAt == nil {
		process.VanishedAt = &now
	}
	if isAccepted(cluster, *process) {
		ended(process, now, acceptedBecause)
		return
	}
	node, exists := nodes[process.NodeName]
	if !exists || process.BootID == "" || node.BootID != process.BootID || node.RenewingSince.IsZero() {
		return
	}
	// A kubelet that was cut off hears of the pod's end when it is back; its time begins there.
	begin := process.VanishedAt.Time
	if node.RenewingSince.After(begin) {
		begin = node.RenewingSince
	}
	due := begin.Add(time.Duration(process.GracePeriodSeconds)*time.Second + r.Deadlines.OrReal().KubeletMargin)
	if !node.LeaseRenewed.Before(due) {
		ended(process, now, fmt.Sprintf("the kubelet of Node %s went on for the grace period and %s after its pod was gone",
			process.NodeName, r.Deadlines.OrReal().KubeletMargin))
	}
}

func ended(process *ucv1.ManagerProcess, at metav1.MicroTime, because string) {
	process.EndedAt = &at
	process.EndedBecause = because[:min(len(because), maxBecause)]
}

const acceptedBecause = "its pod is gone or finished, and spec.handover.acceptLostManagers says that it has ended"

func isAccepted(cluster *ucv1.Cluster, process ucv1.ManagerProcess) bool {
	return slices.Contains(cluster.Spec.Handover.AcceptLostManagers, process.PodName)
}
