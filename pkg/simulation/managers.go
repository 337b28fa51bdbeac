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

	KCM, CCM, probe Lease
	Lock            Lock
	late            []lateRenewal
	// MayFreeKCM says that the controller granted itself the right to free KCM's Lease.
	MayFreeKCM bool
	// RightStays says that a policy refuses to delete that right.
	RightStays bool
	FenceOpen  bool
}

// CCM is the cloud-controller-manager in the user cluster, with others that someone else installed.
type CCM struct {
	w *World

	Processes []*Process
	// retired are processes whose pods still show their end.
	retired []*Process
	Stopped bool
	armed   bool
	// CloudNode says that it was applied with its loop cloud-node.
	CloudNode      bool
	Inherited      ucv1.InheritedConfiguration
	OtherAddresses bool
	CloudConfig    string
	SlowNodes      time.Duration
	Others         []*OtherManager
}

// Cloud is what the user cluster is made of.
type Cloud struct {
	w *World

	Services      []*Service
	OldNames      OldNames
	loadBalancers map[string]string
	// BrokenUntil is how long it answers no question about instances.
	BrokenUntil time.Time
}

// Lease is a leader election Lease in the user cluster.
type Lease struct {
	Holder            string
	Acquired, Renewed time.Time
}

func (as *Addons) prune(objects []observation.Ref) {
	as.Obsolete = slices.DeleteFunc(as.Obsolete, func(object observation.Ref) bool { return slices.Contains(objects, object) })
	for _, set := range []*AddonSet{&as.CCM, &as.CSI, &as.Probe} {
		for _, object := range objects {
			delete(set.Present, object)
		}
	}
}

// Service is a Service of type LoadBalancer.
type Service struct {
	Name, UID string
	ingress   []string
}

// step lets every process that elects try once, in random order.
func (ls *Leases) step() {
	ls.arrive()
	candidates := slices.DeleteFunc(slices.Clone(ls.w.ControlPlane.Processes), func(p *Process) bool { return !p.Elects })
	ls.w.Rng.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	for _, p := range candidates {
		ls.elect(p, &ls.KCM, true)
	}
	for _, p := range slices.Clone(ls.w.CCM.Processes) {
		ls.elect(p, &ls.CCM, !ls.w.CCM.Stopped && ls.MayWrite(p))
	}
	ls.electControllers()
	ls.stepLock()
}

// MayWrite says that a process may write the CCM's Lease: the token of a process is bound to its pod.
func (ls *Leases) MayWrite(p *Process) bool {
	return (ls.FenceOpen || ls.w.Traits.LeasesAreFree) && !p.PodGone
}

// elect is one try of client-go's leader election: a leader that could not renew for the renew deadline exits, and its
// kubelet starts it again.
func (ls *Leases) elect(p *Process, l *Lease, allowed bool) {
	if !p.Alive() || ls.w.Now.Sub(p.Renewed) < RetryPeriod {
		return
	}
	switch {
	case ls.w.Now.Before(p.HungUntil) || !allowed:
		if p.Leading && ls.w.Now.Sub(p.Renewed) > renewDeadline {
			ls.w.CCM.Restart(p)
		}
	case l.Holder == p.Identity():
		l.Renewed, p.Renewed, p.Leading = ls.w.Now, ls.w.Now, true
	case l.Holder == "" || ls.w.Now.Sub(l.Renewed) > LeaseDuration:
		l.Holder, l.Acquired, l.Renewed = p.Identity(), ls.w.Now, ls.w.Now
		p.Renewed, p.Leading = ls.w.Now, true
		ls.w.Say("%s leads", p.PodName)
	}
}

// Restart ends the container; its pod stays and gets a new one from its kubelet.
func (ccm *CCM) Restart(p *Process) {
	ccm.w.ControlPlane.End(p)
	ccm.Processes = slices.DeleteFunc(ccm.Processes, func(other *Process) bool { return other == p })
}

// stepProbe is the probe's process: it leads a Lease of its own, and dies of it where the cloud refuses it.
func (ls *Leases) stepProbe() {
	if len(ls.w.Addons.Probe.missing()) > 0 || len(ls.w.Nodes.All) == 0 {
		ls.probe = Lease{}
		return
	}
	if ls.probe.Holder == "" || (ls.w.Traits.ProbeDies && ls.w.Now.Sub(ls.probe.Renewed) > LeaseDuration) {
		ls.probe = Lease{Holder: ls.w.ID("probe"), Acquired: ls.w.Now, Renewed: ls.w.Now}
	}
	if !ls.w.Traits.ProbeDies {
		ls.probe.Renewed = ls.w.Now
	}
}

// step is the CCM's Deployment, and its cloud-node loop while one of its pods leads.
func (ccm *CCM) step() {
	if len(ccm.w.Addons.CCM.workloads()) == 0 || len(ccm.w.Nodes.All) == 0 {
		if len(ccm.Processes) > 0 && len(ccm.w.Nodes.All) == 0 {
			// A roll whose maxUnavailable takes the only Node takes the CCM with it: that is its owner's choice.
			ccm.w.Hooks.Witness.Disturbed()
		}
		for _, p := range slices.Clone(ccm.Processes) {
			ccm.end(p)
		}
		return
	}
	ccm.roll()
	running := 0
	for _, p := range slices.Clone(ccm.Processes) {
		if p.PodGone {
			ccm.end(p)
		} else {
			running++
		}
	}
	if running < 2 {
		ccm.Processes = append(ccm.Processes, ccm.newProcess())
	}
	if leader := ccm.Leader(); leader != nil && leader.CloudNode {
		ccm.initializeNodes()
		ccm.writeAddresses(leader)
	}
}

// initializeNodes is the cloud-node loop.
func (ccm *CCM) initializeNodes() {
	if ccm.w.Cloud.broken() {
		return
	}
	for _, n := range ccm.w.Nodes.All {
		if n.Tainted && n.instance && ccm.w.Now.Sub(n.CreatedAt) >= ccm.SlowNodes && ccm.w.Chance(0.6) {
			n.Tainted, n.Initialized, n.initializedAt = false, true, ccm.w.Now
			if n.ProviderID == "" {
				n.ProviderID = ccm.w.Provider().ProviderIDPrefix + n.Name
			}
			ccm.w.Say("ccm: initializes Node %s", n.Name)
		}
	}
}

// end is what the kubelet does with a pod that is to go, or is gone: within the grace period.
func (ccm *CCM) end(p *Process) {
	if p.OrphanedAt.IsZero() {
		p.OrphanedAt = ccm.w.Now
	}
	if ccm.w.Now.Sub(p.OrphanedAt) >= gracePeriod || ccm.w.Chance(0.4) {
		ccm.Retire(p)
	}
}

// Leader is nil while no one leads.
func (ccm *CCM) Leader() *Process {
	for _, p := range ccm.Processes {
		if p.Alive() && p.Leading {
			return p
		}
	}
	return nil
}

// stepServices is the service loop of whoever runs it: a load balancer's name derives from the cluster's name, so a
// manager that was told another one makes all of them again, and so does an in-tree provider when they were renamed.
func (cl *Cloud) stepServices() {
	names := []string{}
	for _, p := range cl.w.ControlPlane.Processes {
		if p.RunsLoops() && p.Elects && slices.Contains(p.Loops, observation.ServiceLoop) {
			names = append(names, p.arguments["cluster-name"])
			cl.missRenamed()
		}
	}
	leader, inherited := cl.w.CCM.Leader(), cl.w.CCM.Inherited
	if leader != nil && leader.RunsLoops() && slices.Contains(inherited.Loops, observation.ServiceLoop) {
		names = append(names, inherited.ClusterName)
	}
	for _, clusterName := range names {
		for _, s := range cl.Services {
			cl.ensureLoadBalancer(clusterName+"-"+s.Name, s)
		}
	}
}

// missRenamed is what an in-tree provider does that does not find a load balancer by its old name.
func (cl *Cloud) missRenamed() {
	for _, s := range cl.Services {
		if cl.OldNames.Renamed[s.UID] {
			cl.ensureLoadBalancer("again-"+s.UID, s)
		}
	}
}

func (cl *Cloud) ensureLoadBalancer(name string, s *Service) {
	address, found := cl.loadBalancers[name]
	if !found {
		address = fmt.Sprintf("192.0.2.%d", len(cl.loadBalancers)+1)
		cl.loadBalancers[name] = address
		if len(s.ingress) > 0 {
			cl.w.Hooks.Witness.Recreated(cl.OldNames.Renamed[s.UID])
		}
		cl.w.Say("cloud: creates load balancer %s", name)
	}
	s.ingress = []string{address}
}
