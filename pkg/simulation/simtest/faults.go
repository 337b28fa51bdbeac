package simtest

import (
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// disturb lets the scenario's faults happen.
func (w *World) disturb() {
	meddlersLeave(w)
	if !w.faulty() {
		return
	}
	f := w.scenario.Faults
	faults := []struct {
		chance float64
		happen func(*World)
	}{
		{f.Crash, crash},
		{f.Crash, crashCCM},
		{f.Evict, evict},
		{f.Vanish, vanish},
		{f.Vanish, vanishCCM},
		{f.KubeletDown, stopKubelet},
		{f.Hang, hang},
		{f.NotReady, breakNode},
		{f.Drift, drift},
		{f.Meddle, meddle},
		{f.Cloud, breakCloud},
		{f.Evict, evictCCM},
	}
	for _, fault := range faults {
		if w.Chance(fault.chance) {
			w.disturbed = w.Now
			fault.happen(w)
		}
	}
}

func pick[T any](w *World, from []T) (T, bool) {
	if len(from) == 0 {
		var none T
		return none, false
	}
	return from[w.Rng.IntN(len(from))], true
}

func (w *World) upTo(least, most int) time.Time {
	return w.Now.Add(time.Duration(least+w.Rng.IntN(most-least)) * simulation.Tick)
}

func crash(w *World) {
	d, _ := pick(w, w.ControlPlane.Workloads)
	if p, ok := pick(w, d.Pods); ok && p.Process.Alive() {
		w.ControlPlane.End(p.Process)
		w.Say("fault: container of %s crashes", p.Name)
	}
}

func crashCCM(w *World) {
	if p, ok := pick(w, w.CCM.Processes); ok {
		w.CCM.Restart(p)
		w.Say("fault: %s crashes", p.PodName)
	}
}

// evict deletes a pod with its grace period; an old ReplicaSet that is not scaled down yet makes it again.
func evict(w *World) {
	d, _ := pick(w, w.ControlPlane.Workloads)
	p, ok := pick(w, d.Pods)
	if !ok || p.Terminating() {
		return
	}
	w.Say("fault: %s is evicted", p.Name)
	w.ControlPlane.DeletePod(d, p)
	if p.Generation != d.Generation && w.Chance(0.5) {
		w.ControlPlane.CreatePod(d, p.Generation, p.Arguments)
	}
}

// vanish takes a KCM pod's object away and leaves its process. Pods that no observation has shown yet are spared: what
// appears and is force-deleted between two looks is beyond any proof, and the Lease is then the only witness.
func vanish(w *World) {
	d := w.ControlPlane.KCM()
	p, ok := pick(w, d.Pods)
	if !ok || !wasSeen(w, p) {
		return
	}
	d.Pods = slices.DeleteFunc(d.Pods, func(other *simulation.Pod) bool { return other == p })
	w.Say("fault: %s is deleted with grace 0", p.Name)
}

// vanishCCM takes the object of a CCM's pod away; its process goes on for a while.
func vanishCCM(w *World) {
	if p, ok := pick(w, w.CCM.Processes); ok && !p.PodGone {
		p.PodGone = true
		w.Say("fault: %s is deleted with grace 0", p.PodName)
	}
}

func wasSeen(w *World, p *simulation.Pod) bool {
	handover := w.Facts().Handover
	if handover == nil || handover.StartedAt == nil {
		return p.Process != nil && w.Now.Sub(p.CreatedAt) > settling
	}
	for _, recorded := range handover.Processes {
		if recorded.PodUID == p.UID {
			return true
		}
	}
	return false
}

func stopKubelet(w *World) {
	n, _ := pick(w, w.ControlPlane.Hosts)
	n.DownUntil = w.upTo(5, 60)
	w.Say("fault: kubelet of %s is away", n.Name)
}

func hang(w *World) {
	if p, ok := pick(w, append(slices.Clone(w.ControlPlane.Processes), w.CCM.Processes...)); ok {
		p.HungUntil = w.upTo(5, 20)
		w.Say("fault: %s is cut off", p.PodName)
	}
}

func breakNode(w *World) {
	if n, ok := pick(w, w.Nodes.All); ok {
		n.NotReadyUntil = w.upTo(3, 15)
		w.Say("fault: Node %s is NotReady", n.Name)
	}
}

func drift(w *World) {
	set := &w.Addons.CCM
	if w.Chance(0.5) {
		set = &w.Addons.CSI
	}
	if object, ok := pick(w, set.Wanted); ok && set.Present[object] {
		delete(set.Present, object)
		w.Say("fault: %s of %s is deleted", object.Kind, set.Name)
	}
}
