package migration

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// leasesMinor is the first whose KCM elects its leader with a Lease alone, unless it is told otherwise.
// https://github.com/kubernetes/kubernetes/pull/94603
const leasesMinor = 20

// KCMLeaseRole is the name of the Role and the RoleBinding by which we may free KCM's Lease.
const KCMLeaseRole = "ccm-migration:kube-controller-manager-lease"

func rightTo(lease Ref) []Ref {
	return []Ref{{Kind: "Role", Namespace: lease.Namespace, Name: KCMLeaseRole}, {Kind: "RoleBinding", Namespace: lease.Namespace, Name: KCMLeaseRole}}
}

// LooksAtKCMLeaseRight says whether that is looked at: never in a cluster that is finished.
func LooksAtKCMLeaseRight(facts ucv1.Facts) bool {
	return facts.StartedAt != nil && facts.Handover != nil && (facts.CompletedAt == nil || facts.Handover.KCMLeaseGrantedAt != nil)
}

// kcmLease is KCM's, where it may be freed: we change KCM, so that its rollouts are ours, and it elects with a Lease alone.
func (p *pass) kcmLease() (formerLease, bool) {
	lease, known := p.o.KCMLease.Get()
	controlPlane, seen := p.o.ControlPlane.Get()
	kcm := controlPlane.KCM
	if !known || !seen || p.o.Cluster.Spec.ControlPlane.Instructed() || !p.electsByLease(kcm.Arguments) ||
		slices.ContainsFunc(kcm.Pods, func(process Process) bool { return !p.electsByLease(process.Arguments) }) {
		return formerLease{}, false
	}
	return formerLease{
		lease: lease, processes: slices.Concat(kcm.Pods, kcm.Former),
		retry: max(retryPeriod, kcm.Arguments.duration("leader-elect-retry-period", retryPeriod)),
	}, true
}

func (p *pass) electsByLease(arguments Arguments) bool {
	kind, given := arguments.Flag("leader-elect-resource-lock")
	return arguments.Understood() && arguments.True("leader-elect", true) && (kind == "leases" || !given && p.minor() >= leasesMinor)
}

// beforeKCMRolls is what makes the time short in which no KCM leads: its leader ends last, and we may free its Lease.
func (p *pass) beforeKCMRolls(verb *Verb) *Verb {
	kcm := p.o.ControlPlane.Value().KCM
	if verb == nil || verb.Kind != VerbChangeArguments || verb.Arguments.InUserCluster || verb.Arguments.Target != kcm.Ref {
		return nil
	}
	if keep := keepLeader(kcm, p.o.KCMLease.Value()); keep != nil {
		return keep
	}
	former, known := p.kcmLease()
	if !known || p.facts.Handover.KCMLeaseGrantedAt != nil {
		return nil
	}
	return &Verb{
		Kind: VerbGrantLease, Objects: rightTo(former.lease.Ref), Lease: &former.lease,
		Why: "Letting us free " + former.lease.String() + " of a KCM that ends while " + kcm.String() + " rolls out.",
	}
}

// keepLeader has a ReplicaSet delete the pod that leads last; nil when there is nothing to do.
func keepLeader(kcm Component, lease Lease) *Verb {
	leader := slices.IndexFunc(kcm.Pods, func(process Process) bool {
		return !process.Terminating && !process.Finished && heldBy(lease, process.PodName, "")
	})
	if kcm.Replicas < 2 || leader < 0 || kcm.Pods[leader].DeletionCost != "" {
		return nil
	}
	pod := kcm.Pods[leader]
	return &Verb{
		Kind: VerbKeepLeader, Objects: []Ref{{Kind: "Pod", Namespace: kcm.Namespace, Name: pod.PodName, UID: pod.PodUID}},
		Why: "Having Pod " + kcm.Namespace + "/" + pod.PodName + ", which leads, end last of all KCM pods.",
	}
}

// granted says that something of our right may be there.
func (p *pass) granted() bool {
	handover := p.facts.Handover
	return handover != nil && (handover.KCMLeaseGrantedAt != nil || p.o.KCMLeaseRight.Value().There)
}

// rightIsOver: KCM has rolled out, and its Lease is not one that is still to be freed. The hand-over and the undo have no time for it.
func (p *pass) rightIsOver() bool {
	controlPlane, known := p.o.ControlPlane.Get()
	return p.granted() && p.ccmHasTakenOver() && !p.undoing() && known && controlPlane.KCM.RolledOut && p.o.Connection.Reachable && !p.kcmLeaseOrphaned()
}

// kcmLeaseOrphaned says that the holder of KCM's Lease has ended or is gone, and that the Lease has not run out yet.
func (p *pass) kcmLeaseOrphaned() bool {
	former, known := p.kcmLease()
	holder, found := former.holder()
	lives := func(process Process) bool { return process.ContainerID == holder.ContainerID && !process.Ended }
	return known && found && !former.lease.stale(p.now) && !slices.ContainsFunc(p.o.ControlPlane.Value().KCM.Pods, lives)
}

func (p *pass) revoke() *Verb {
	p.facts.Handover.KCMLeaseGrantedAt = nil
	lease := p.o.KCMLease.Value()
	return &Verb{
		Kind: VerbRevokeLease, Objects: rightTo(lease.Ref), Lease: &lease, Why: "Taking back our right to free KCM's Lease.",
	}
}

// rightGone is asked before all is finished: nothing looks at our right afterwards.
func (p *pass) rightGone() outcome {
	switch {
	case !p.granted():
		return holds(ucv1.HoldsReason, "")
	case p.kcmLeaseOrphaned():
		return waitsUntil(ucv1.RollingOutReason, "The next KCM takes "+p.o.KCMLease.Value().String()+", whose holder has ended.", time.Second)
	}
	return does(*p.revoke())
}
