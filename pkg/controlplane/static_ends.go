package controlplane

import (
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// followStatic brings the record of a static pod up to date. The record stands for a manifest on a machine, so it goes on
// when its mirror pod is made again, when its container is restarted, and when its Node is booted with the same manifest.
// A mirror pod that is gone proves nothing, however long its kubelet goes on: one that may not make another one, because
// an admission policy refuses it, runs the static pod all the same.
//
//	mirror pod of the same manifest and machine ──► it goes on, also after a person vouched for it
//	another boot of the same machine ─────────────► ended: no process outlives its kernel
//	Ready, same boot, another manifest runs ──────► ended: the kubelet starts one after the other
//	anything else ────────────────────────────────► not known; a person may vouch for it
func (r *Reader) followStatic(
	process *ucv1.ManagerProcess,
	cluster *ucv1.Cluster,
	plane observation.ControlPlane,
	now metav1.MicroTime,
) {
	node, shown, accepted := plane.ManagementNodes[process.NodeName], staticPodOf(
		process,
		plane.KCM.Pods,
	), isAccepted(
		cluster,
		*process,
	)
	switch {
	case goesOn(process, shown, accepted):
		goOn(process, shown, now)
	case process.EndedAt != nil:
	case rebooted(process, node):
		process.VanishedAt = nil
		ended(process, now, fmt.Sprintf("Node %s was booted again, and its machine is the same", process.NodeName))
	case succeeded(process, shown, node) && now.Sub(shown.RunningSince) >= r.Deadlines.OrReal().Settle:
		process.VanishedAt = nil
		// Dated back to the first sight: a renewal of the Lease within the time would contradict it.
		ended(
			process,
			metav1.NewMicroTime(shown.RunningSince),
			fmt.Sprintf("Node %s runs Pod %s from another manifest", process.NodeName, process.PodName),
		)
	default:
		if process.VanishedAt == nil {
			process.VanishedAt = &now
		}
		if lost := shown == nil || !node.Ready || node.BootID != process.BootID; accepted && lost {
			ended(process, now, acceptedBecause)
		}
	}
}

// goesOn says that the manifest is shown again, by the machine of the record or with a person's word for that one.
func goesOn(process *ucv1.ManagerProcess, shown *observation.Process, accepted bool) bool {
	return shown != nil && shown.ConfigHash == process.ConfigHash && (process.EndedAt == nil || shown.PodUID == process.PodUID) &&
		(sameMachine(process, shown) || accepted)
}

// rebooted says that the machine of the record runs another kernel.
func rebooted(process *ucv1.ManagerProcess, node observation.ManagementNode) bool {
	return node.BootID != "" && process.BootID != "" && node.BootID != process.BootID &&
		node.SystemUUID != "" && node.SystemUUID == process.SystemUUID
}

// sameMachine: a Node of the same name and manifest may be another machine, beside which the recorded one goes on.
func sameMachine(process *ucv1.ManagerProcess, shown *observation.Process) bool {
	return process.BootID == "" || shown.BootID == "" || process.BootID == shown.BootID ||
		process.SystemUUID != "" && process.SystemUUID == shown.SystemUUID
}

// succeeded says that the kubelet, in the boot that ran the recorded process, runs another manifest under the same name.
func succeeded(process *ucv1.ManagerProcess, shown *observation.Process, node observation.ManagementNode) bool {
	return shown != nil && !shown.RunningSince.IsZero() && shown.ContainerID != process.ContainerID &&
		shown.ConfigHash != process.ConfigHash && node.Ready && process.BootID != "" && node.BootID == process.BootID
}

// goOn has the record go on under the mirror pod, the container and the boot of today.
func goOn(process *ucv1.ManagerProcess, shown *observation.Process, now metav1.MicroTime) {
	process.PodUID = shown.PodUID
	if shown.BootID != "" {
		process.BootID, process.SystemUUID = shown.BootID, shown.SystemUUID
	}
	if shown.ContainerID != "" {
		process.ContainerID = shown.ContainerID
	}
	if !shown.Ended {
		process.VanishedAt, process.EndedAt, process.EndedBecause = nil, nil, ""
		return
	}
	if process.EndedAt == nil {
		process.VanishedAt = nil
		ended(process, now, fmt.Sprintf("the container of Pod %s was seen terminated", shown.PodName))
	}
}

// staticPodOf is the static pod of the record's name: the kubelet serializes those, and a manifest that was copied under
// another name is another process.
func staticPodOf(process *ucv1.ManagerProcess, pods []observation.Process) *observation.Process {
	for i := range pods {
		if pods[i].ConfigHash != "" && pods[i].PodName == process.PodName {
			return &pods[i]
		}
	}
	return nil
}

// runWatch remembers since when containers have been seen running, on our clock.
type runWatch struct {
	mu   sync.Mutex
	seen map[types.NamespacedName]runSight
}

type runSight struct {
	containerID string
	since       time.Time
	lookedAt    time.Time
}

// look takes a look at a running container.
func (w *runWatch) look(key types.NamespacedName, containerID string, now time.Time) (since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[types.NamespacedName]runSight{}
	}
	sight, again := w.seen[key]
	if !again {
		w.forget(now)
	}
	if !again || sight.containerID != containerID {
		sight = runSight{containerID: containerID, since: now}
	}
	sight.lookedAt = now
	w.seen[key] = sight
	return sight.since
}

// forget drops what no one has looked at for long.
func (w *runWatch) forget(now time.Time) {
	for key, sight := range w.seen {
		if now.Sub(sight.lookedAt) > forgetAfter {
			delete(w.seen, key)
		}
	}
}
