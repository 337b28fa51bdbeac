package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// lease is a leader election Lease in the user cluster.
type lease struct {
	holder            string
	acquired, renewed time.Time
}

func (w *World) prune(objects []observation.Ref) {
	w.obsolete = slices.DeleteFunc(w.obsolete, func(object observation.Ref) bool { return slices.Contains(objects, object) })
	for _, set := range []*addonSet{&w.ccm, &w.csi, &w.probe} {
		for _, object := range objects {
			delete(set.present, object)
		}
	}
}

// service is a Service of type LoadBalancer.
type service struct {
	name, uid string
	ingress   []string
}

// stepManagers lets every process that elects try once, in random order.
func (w *World) stepManagers() {
	w.arrive()
	candidates := slices.DeleteFunc(slices.Clone(w.processes), func(p *process) bool { return !p.elects })
	w.rng.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	for _, p := range candidates {
		w.elect(p, &w.kcmLease, true)
	}
	for _, p := range slices.Clone(w.replicas) {
		w.elect(p, &w.ccmLease, !w.ccmStopped && w.mayWriteLease(p))
	}
	w.stepLock()
}

// mayWriteLease: the token of a process is bound to its pod.
func (w *World) mayWriteLease(p *process) bool {
	return (w.fenceOpen || w.traits.LeasesAreFree) && !p.podGone
}

// elect is one try of client-go's leader election: a leader that could not renew for the renew deadline exits, and its
// kubelet starts it again.
func (w *World) elect(p *process, l *lease, allowed bool) {
	if !p.alive() || w.now.Sub(p.renewed) < retryPeriod {
		return
	}
	switch {
	case w.now.Before(p.hungUntil) || !allowed:
		if p.leading && w.now.Sub(p.renewed) > renewDeadline {
			w.restart(p)
		}
	case l.holder == p.identity():
		l.renewed, p.renewed, p.leading = w.now, w.now, true
	case l.holder == "" || w.now.Sub(l.renewed) > leaseDuration:
		l.holder, l.acquired, l.renewed = p.identity(), w.now, w.now
		p.renewed, p.leading = w.now, true
		w.say("%s leads", p.podName)
	}
}

// restart ends the container; its pod stays and gets a new one from its kubelet.
func (w *World) restart(p *process) {
	w.end(p)
	w.replicas = slices.DeleteFunc(w.replicas, func(other *process) bool { return other == p })
}

// stepProbe is the probe's process: it leads a Lease of its own, and dies of it where the cloud refuses it.
func (w *World) stepProbe() {
	if len(w.probe.missing()) > 0 || len(w.nodes) == 0 {
		w.probeLease = lease{}
		return
	}
	if w.probeLease.holder == "" || (w.traits.ProbeDies && w.now.Sub(w.probeLease.renewed) > leaseDuration) {
		w.probeLease = lease{holder: w.id("probe"), acquired: w.now, renewed: w.now}
	}
	if !w.traits.ProbeDies {
		w.probeLease.renewed = w.now
	}
}

// stepCCM is the CCM's Deployment, and its cloud-node loop while one of its pods leads.
func (w *World) stepCCM() {
	if len(w.ccm.workloads()) == 0 || len(w.nodes) == 0 {
		if len(w.replicas) > 0 && len(w.nodes) == 0 {
			// A roll whose maxUnavailable takes the only Node takes the CCM with it: that is its owner's choice.
			w.hooks.Disturbed()
		}
		for _, p := range slices.Clone(w.replicas) {
			w.endReplica(p)
		}
		return
	}
	w.rollCCM()
	running := 0
	for _, p := range slices.Clone(w.replicas) {
		if p.podGone {
			w.endReplica(p)
		} else {
			running++
		}
	}
	if running < 2 {
		w.replicas = append(w.replicas, w.newReplica())
	}
	if leader := w.ccmLeader(); leader != nil && leader.cloudNode {
		w.initializeNodes()
		w.writeAddresses(leader)
	}
}

// initializeNodes is the cloud-node loop.
func (w *World) initializeNodes() {
	if w.cloudBroken() {
		return
	}
	for _, n := range w.nodes {
		if n.tainted && n.instance && w.now.Sub(n.createdAt) >= w.slowNodes && w.chance(0.6) {
			n.tainted, n.initialized, n.initializedAt = false, true, w.now
			if n.providerID == "" {
				n.providerID = w.provider().ProviderIDPrefix + n.name
			}
			w.say("ccm: initializes Node %s", n.name)
		}
	}
}

// endReplica is what the kubelet does with a pod that is to go, or is gone: within the grace period.
func (w *World) endReplica(p *process) {
	if p.orphanedAt.IsZero() {
		p.orphanedAt = w.now
	}
	if w.now.Sub(p.orphanedAt) >= gracePeriod || w.chance(0.4) {
		w.retire(p)
	}
}

func (w *World) ccmLeader() *process {
	for _, p := range w.replicas {
		if p.alive() && p.leading {
			return p
		}
	}
	return nil
}

// running lists who runs a loop now: the truth that the rules are about.
func (w *World) running(loop string) []string {
	var names []string
	for _, p := range w.processes {
		if p.runsLoops() && p.elects && slices.Contains(p.loops, loop) {
			names = append(names, p.podName)
		}
	}
	for _, p := range w.replicas {
		if p.runsLoops() && slices.Contains(w.inherited.Loops, loop) {
			names = append(names, p.podName)
		}
	}
	return names
}

// stepServices is the service loop of whoever runs it: a load balancer's name derives from the cluster's name, so a
// manager that was told another one makes all of them again.
func (w *World) stepServices() {
	names := []string{}
	for _, p := range w.processes {
		if p.runsLoops() && p.elects && slices.Contains(p.loops, observation.ServiceLoop) {
			names = append(names, p.arguments["cluster-name"])
		}
	}
	if leader := w.ccmLeader(); leader != nil && leader.runsLoops() && slices.Contains(w.inherited.Loops, observation.ServiceLoop) {
		names = append(names, w.inherited.ClusterName)
	}
	for _, clusterName := range names {
		for _, s := range w.services {
			w.ensureLoadBalancer(clusterName+"-"+s.name, s)
		}
	}
}

func (w *World) ensureLoadBalancer(name string, s *service) {
	address, found := w.loadBalancers[name]
	if !found {
		address = fmt.Sprintf("192.0.2.%d", len(w.loadBalancers)+1)
		w.loadBalancers[name] = address
		if len(s.ingress) > 0 {
			w.hooks.Recreated()
		}
		w.say("cloud: creates load balancer %s", name)
	}
	s.ingress = []string{address}
}
