package simulation

import (
	"fmt"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Leases are those that managers are elected by, and who may write them.
type Leases struct {
	w *World

	kcm, ccm, probe lease
	lock            lock
	late            []lateRenewal
	// mayFreeKCM says that the controller granted itself the right to free KCM's Lease.
	mayFreeKCM bool
	// rightStays says that a policy refuses to delete that right.
	rightStays bool
	fenceOpen  bool
}

// CCM is the cloud-controller-manager in the user cluster, with others that someone else installed.
type CCM struct {
	w *World

	processes []*process
	// retired are processes whose pods still show their end.
	retired []*process
	stopped bool
	armed   bool
	// cloudNode says that it was applied with its loop cloud-node.
	cloudNode      bool
	inherited      ucv1.InheritedConfiguration
	otherAddresses bool
	cloudConfig    string
	slowNodes      time.Duration
	others         []*otherManager
}

// Cloud is what the user cluster is made of.
type Cloud struct {
	w *World

	services      []*service
	loadBalancers map[string]string
	// brokenUntil is how long it answers no question about instances.
	brokenUntil time.Time
}

// lease is a leader election Lease in the user cluster.
type lease struct {
	holder            string
	acquired, renewed time.Time
}

func (as *Addons) prune(objects []observation.Ref) {
	as.obsolete = slices.DeleteFunc(as.obsolete, func(object observation.Ref) bool { return slices.Contains(objects, object) })
	for _, set := range []*addonSet{&as.ccm, &as.csi, &as.probe} {
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

// step lets every process that elects try once, in random order.
func (ls *Leases) step() {
	ls.arrive()
	candidates := slices.DeleteFunc(slices.Clone(ls.w.controlPlane.processes), func(p *process) bool { return !p.elects })
	ls.w.rng.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	for _, p := range candidates {
		ls.elect(p, &ls.kcm, true)
	}
	for _, p := range slices.Clone(ls.w.ccm.processes) {
		ls.elect(p, &ls.ccm, !ls.w.ccm.stopped && ls.mayWrite(p))
	}
	ls.stepLock()
}

// mayWrite: the token of a process is bound to its pod.
func (ls *Leases) mayWrite(p *process) bool {
	return (ls.fenceOpen || ls.w.traits.LeasesAreFree) && !p.podGone
}

// elect is one try of client-go's leader election: a leader that could not renew for the renew deadline exits, and its
// kubelet starts it again.
func (ls *Leases) elect(p *process, l *lease, allowed bool) {
	if !p.alive() || ls.w.now.Sub(p.renewed) < retryPeriod {
		return
	}
	switch {
	case ls.w.now.Before(p.hungUntil) || !allowed:
		if p.leading && ls.w.now.Sub(p.renewed) > renewDeadline {
			ls.w.ccm.restart(p)
		}
	case l.holder == p.identity():
		l.renewed, p.renewed, p.leading = ls.w.now, ls.w.now, true
	case l.holder == "" || ls.w.now.Sub(l.renewed) > leaseDuration:
		l.holder, l.acquired, l.renewed = p.identity(), ls.w.now, ls.w.now
		p.renewed, p.leading = ls.w.now, true
		ls.w.say("%s leads", p.podName)
	}
}

// restart ends the container; its pod stays and gets a new one from its kubelet.
func (ccm *CCM) restart(p *process) {
	ccm.w.controlPlane.end(p)
	ccm.processes = slices.DeleteFunc(ccm.processes, func(other *process) bool { return other == p })
}

// stepProbe is the probe's process: it leads a Lease of its own, and dies of it where the cloud refuses it.
func (ls *Leases) stepProbe() {
	if len(ls.w.addons.probe.missing()) > 0 || len(ls.w.nodes.all) == 0 {
		ls.probe = lease{}
		return
	}
	if ls.probe.holder == "" || (ls.w.traits.ProbeDies && ls.w.now.Sub(ls.probe.renewed) > leaseDuration) {
		ls.probe = lease{holder: ls.w.id("probe"), acquired: ls.w.now, renewed: ls.w.now}
	}
	if !ls.w.traits.ProbeDies {
		ls.probe.renewed = ls.w.now
	}
}

// step is the CCM's Deployment, and its cloud-node loop while one of its pods leads.
func (ccm *CCM) step() {
	if len(ccm.w.addons.ccm.workloads()) == 0 || len(ccm.w.nodes.all) == 0 {
		if len(ccm.processes) > 0 && len(ccm.w.nodes.all) == 0 {
			// A roll whose maxUnavailable takes the only Node takes the CCM with it: that is its owner's choice.
			ccm.w.hooks.Disturbed()
		}
		for _, p := range slices.Clone(ccm.processes) {
			ccm.end(p)
		}
		return
	}
	ccm.roll()
	running := 0
	for _, p := range slices.Clone(ccm.processes) {
		if p.podGone {
			ccm.end(p)
		} else {
			running++
		}
	}
	if running < 2 {
		ccm.processes = append(ccm.processes, ccm.newProcess())
	}
	if leader := ccm.leader(); leader != nil && leader.cloudNode {
		ccm.initializeNodes()
		ccm.writeAddresses(leader)
	}
}

// initializeNodes is the cloud-node loop.
func (ccm *CCM) initializeNodes() {
	if ccm.w.cloud.broken() {
		return
	}
	for _, n := range ccm.w.nodes.all {
		if n.tainted && n.instance && ccm.w.now.Sub(n.createdAt) >= ccm.slowNodes && ccm.w.chance(0.6) {
			n.tainted, n.initialized, n.initializedAt = false, true, ccm.w.now
			if n.providerID == "" {
				n.providerID = ccm.w.provider().ProviderIDPrefix + n.name
			}
			ccm.w.say("ccm: initializes Node %s", n.name)
		}
	}
}

// end is what the kubelet does with a pod that is to go, or is gone: within the grace period.
func (ccm *CCM) end(p *process) {
	if p.orphanedAt.IsZero() {
		p.orphanedAt = ccm.w.now
	}
	if ccm.w.now.Sub(p.orphanedAt) >= gracePeriod || ccm.w.chance(0.4) {
		ccm.retire(p)
	}
}

func (ccm *CCM) leader() *process {
	for _, p := range ccm.processes {
		if p.alive() && p.leading {
			return p
		}
	}
	return nil
}

// running lists who runs a loop now: the truth that the rules are about.
func running(w *World, loop string) []string {
	var names []string
	for _, p := range w.controlPlane.processes {
		if p.runsLoops() && p.elects && slices.Contains(p.loops, loop) {
			names = append(names, p.podName)
		}
	}
	for _, p := range w.ccm.processes {
		if p.runsLoops() && slices.Contains(w.ccm.inherited.Loops, loop) {
			names = append(names, p.podName)
		}
	}
	return names
}

// stepServices is the service loop of whoever runs it: a load balancer's name derives from the cluster's name, so a
// manager that was told another one makes all of them again.
func (cl *Cloud) stepServices() {
	names := []string{}
	for _, p := range cl.w.controlPlane.processes {
		if p.runsLoops() && p.elects && slices.Contains(p.loops, observation.ServiceLoop) {
			names = append(names, p.arguments["cluster-name"])
		}
	}
	if leader := cl.w.ccm.leader(); leader != nil && leader.runsLoops() && slices.Contains(cl.w.ccm.inherited.Loops, observation.ServiceLoop) {
		names = append(names, cl.w.ccm.inherited.ClusterName)
	}
	for _, clusterName := range names {
		for _, s := range cl.services {
			cl.ensureLoadBalancer(clusterName+"-"+s.name, s)
		}
	}
}

func (cl *Cloud) ensureLoadBalancer(name string, s *service) {
	address, found := cl.loadBalancers[name]
	if !found {
		address = fmt.Sprintf("192.0.2.%d", len(cl.loadBalancers)+1)
		cl.loadBalancers[name] = address
		if len(s.ingress) > 0 {
			cl.w.hooks.Recreated()
		}
		cl.w.say("cloud: creates load balancer %s", name)
	}
	s.ingress = []string{address}
}
