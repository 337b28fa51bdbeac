package simulation

import (
	"slices"
	"time"
)

// disturb lets the scenario's faults happen.
func (w *World) disturb() {
	w.meddlersLeave()
	if !w.faulty() {
		return
	}
	f := w.scenario.Faults
	faults := []struct {
		chance float64
		happen func()
	}{
		{
			f.Crash,
			w.crash,
		},
		{f.Crash, w.crashCCM},
		{f.Evict, w.evict},
		{f.Vanish, w.vanish},
		{f.Vanish, w.vanishCCM},
		{f.KubeletDown, w.stopKubelet},
		{f.Hang, w.hang},
		{f.NotReady, w.breakNode},
		{f.Drift, w.drift},
		{f.Meddle, w.meddle},
		{f.Cloud, w.breakCloud},
		{f.Evict, w.evictCCM},
	}
	for _, fault := range faults {
		if w.chance(fault.chance) {
			w.disturbed = w.now
			fault.happen()
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

func (w *World) crash() {
	d, _ := pick(w, w.workloads)
	if p, ok := pick(w, d.pods); ok && p.process.alive() {
		w.end(p.process)
		w.say("fault: container of %s crashes", p.name)
	}
}

func (w *World) crashCCM() {
	if p, ok := pick(w, w.replicas); ok {
		w.restart(p)
		w.say("fault: %s crashes", p.podName)
	}
}

// evict deletes a pod with its grace period; an old ReplicaSet that is not scaled down yet makes it again.
func (w *World) evict() {
	d, _ := pick(w, w.workloads)
	p, ok := pick(w, d.pods)
	if !ok || p.terminating() {
		return
	}
	w.say("fault: %s is evicted", p.name)
	w.deletePod(d, p)
	if p.generation != d.generation && w.chance(0.5) {
		w.createPod(d, p.generation, p.arguments)
	}
}

// vanish takes a KCM pod's object away and leaves its process. Pods that no observation has shown yet are spared: what
// appears and is force-deleted between two looks is beyond any proof, and the Lease is then the only witness.
func (w *World) vanish() {
	d := w.kcm()
	p, ok := pick(w, d.pods)
	if !ok || !w.wasSeen(p) {
		return
	}
	d.pods = slices.DeleteFunc(d.pods, func(other *pod) bool { return other == p })
	w.say("fault: %s is deleted with grace 0", p.name)
}

// vanishCCM takes the object of a CCM's pod away; its process goes on for a while.
func (w *World) vanishCCM() {
	if p, ok := pick(w, w.replicas); ok && !p.podGone {
		p.podGone = true
		w.say("fault: %s is deleted with grace 0", p.podName)
	}
}

func (w *World) wasSeen(p *pod) bool {
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

func (w *World) stopKubelet() {
	n, _ := pick(w, w.managementNodes)
	n.downUntil = w.upTo(5, 60)
	w.say("fault: kubelet of %s is away", n.name)
}

func (w *World) hang() {
	if p, ok := pick(w, append(slices.Clone(w.processes), w.replicas...)); ok {
		p.hungUntil = w.upTo(5, 20)
		w.say("fault: %s is cut off", p.podName)
	}
}

func (w *World) breakNode() {
	if n, ok := pick(w, w.nodes); ok {
		n.notReadyUntil = w.upTo(3, 15)
		w.say("fault: Node %s is NotReady", n.name)
	}
}

func (w *World) drift() {
	set := &w.ccm
	if w.chance(0.5) {
		set = &w.csi
	}
	if object, ok := pick(w, set.wanted); ok && set.present[object] {
		delete(set.present, object)
		w.say("fault: %s of %s is deleted", object.Kind, set.name)
	}
}
