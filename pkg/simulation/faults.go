package simulation

import (
	"slices"
	"time"
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
		if w.chance(fault.chance) {
			w.disturbed = w.now
			fault.happen(w)
		}
	}
}

func pick[T any](w *World, from []T) (T, bool) {
	if len(from) == 0 {
		var none T
		return none, false
	}
	return from[w.rng.IntN(len(from))], true
}

func (w *World) upTo(least, most int) time.Time {
	return w.now.Add(time.Duration(least+w.rng.IntN(most-least)) * tick)
}

func crash(w *World) {
	d, _ := pick(w, w.controlPlane.workloads)
	if p, ok := pick(w, d.pods); ok && p.process.alive() {
		w.controlPlane.end(p.process)
		w.say("fault: container of %s crashes", p.name)
	}
}

func crashCCM(w *World) {
	if p, ok := pick(w, w.ccm.processes); ok {
		w.ccm.restart(p)
		w.say("fault: %s crashes", p.podName)
	}
}

// evict deletes a pod with its grace period; an old ReplicaSet that is not scaled down yet makes it again.
func evict(w *World) {
	d, _ := pick(w, w.controlPlane.workloads)
	p, ok := pick(w, d.pods)
	if !ok || p.terminating() {
		return
	}
	w.say("fault: %s is evicted", p.name)
	w.controlPlane.deletePod(d, p)
	if p.generation != d.generation && w.chance(0.5) {
		w.controlPlane.createPod(d, p.generation, p.arguments)
	}
}

// vanish takes a KCM pod's object away and leaves its process. Pods that no observation has shown yet are spared: what
// appears and is force-deleted between two looks is beyond any proof, and the Lease is then the only witness.
func vanish(w *World) {
	d := w.controlPlane.kcm()
	p, ok := pick(w, d.pods)
	if !ok || !wasSeen(w, p) {
		return
	}
	d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
	w.say("fault: %s is deleted with grace 0", p.name)
}

// vanishCCM takes the object of a CCM's pod away; its process goes on for a while.
func vanishCCM(w *World) {
	if p, ok := pick(w, w.ccm.processes); ok && !p.podGone {
		p.podGone = true
		w.say("fault: %s is deleted with grace 0", p.podName)
	}
}

func wasSeen(w *World, p *pod) bool {
	handover := w.facts().Handover
	if handover == nil || handover.StartedAt == nil {
		return p.process != nil && w.now.Sub(p.createdAt) > settling
	}
	for _, recorded := range handover.Processes {
		if recorded.PodUID == p.uid {
			return true
		}
	}
	return false
}

func stopKubelet(w *World) {
	n, _ := pick(w, w.controlPlane.hosts)
	n.downUntil = w.upTo(5, 60)
	w.say("fault: kubelet of %s is away", n.name)
}

func hang(w *World) {
	if p, ok := pick(w, append(slices.Clone(w.controlPlane.processes), w.ccm.processes...)); ok {
		p.hungUntil = w.upTo(5, 20)
		w.say("fault: %s is cut off", p.podName)
	}
}

func breakNode(w *World) {
	if n, ok := pick(w, w.nodes.all); ok {
		n.notReadyUntil = w.upTo(3, 15)
		w.say("fault: Node %s is NotReady", n.name)
	}
}

func drift(w *World) {
	set := &w.addons.ccm
	if w.chance(0.5) {
		set = &w.addons.csi
	}
	if object, ok := pick(w, set.wanted); ok && set.present[object] {
		delete(set.present, object)
		w.say("fault: %s of %s is deleted", object.Kind, set.name)
	}
}
