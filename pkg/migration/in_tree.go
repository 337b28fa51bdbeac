package migration

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// decideInTree is for the feature being off. In every pass it looks at the name of the provider, which can be neither changed nor
// migrated when it is unknown, at the arguments of KCM, and at the other Clusters: two of one control plane would stop both when
// one of them gets the feature. Whether KCM leads is asked by a look ahead only (attendInTree).
func decideInTree(in pass.Input) Decision {
	out := standsInTree(in)
	return Decision{Step: ucv1.StepInTree, Wait: out.Wait, Failure: out.Failure}
}

// standsInTree holds when nothing that is seen without the user cluster is wrong.
func standsInTree(in pass.Input) outcome.Outcome {
	if in.UnknownProvider != "" {
		return outcome.Fails(ucv1.NotSupportedReason, start.UnknownProvider(in))
	}
	out := runsInTree(in, in.InTree)
	if shared, _ := start.CheckContenders(in); shared != nil && out.Failure == nil {
		return outcome.Fails(shared.Reason, shared.Text())
	}
	return out
}

// runsInTree is what it takes to say of KCM that it runs the cloud loops, as far as its arguments tell. One that is scaled to 0
// runs nothing, and is not to.
func runsInTree(in pass.Input, seen observation.Observed[observation.Component]) outcome.Outcome {
	kcm, known := seen.Get()
	switch {
	case seen.IsAbsent():
		return outcome.Fails(ucv1.InputInvalidReason, components.KCMMissing(in))
	case !known && in.Cluster.Spec.ControlPlane.Static():
		return outcome.Holds(ucv1.HoldsReason, "") // Its static pods are in the user cluster, where only a look ahead sees them.
	case !known:
		return outcome.CannotLook(components.KCMReference(in), seen.Why())
	case kcm.Replicas == 0:
		return outcome.Holds(ucv1.HoldsReason, "")
	case !kcm.Arguments.Understood():
		return outcome.CannotLook(
			observation.Say("whether ", kcm, " runs the cloud loops"),
			strings.TrimSuffix(kcm.Arguments.Problem, "."),
		)
	case components.LoopsOffInTree(kcm.Arguments):
		return outcome.Fails(ucv1.LoopsOffAlreadyReason, components.LoopsOffAlready(kcm))
	case len(kcm.Arguments.CloudLoops()) == 0:
		because, instead := "The feature externalCloudProvider is off", "spec.features.externalCloudProvider to true"
		if in.Cluster.ExternalCloudProvider() {
			because, instead = "The cluster waits for its turn", "spec.admission to Immediate"
		}
		return outcome.Fails(ucv1.LoopsOffAlreadyReason, because+", but ", kcm, " has no in-tree cloud provider, so it runs no cloud "+
			"loop. Give it --cloud-provider of the in-tree provider, or, if a CCM runs the loops, set "+instead+".")
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// LookedAt says in a clause and a sentence what was looked at of a cluster whose feature is off, and what was not.
func LookedAt(o observation.Observation) string {
	kcm, known := o.InTree.Get()
	switch {
	case !known && o.Cluster.Spec.ControlPlane.Static():
		return "the control plane is in the user cluster. " + otherwiseLookedAt(o)
	case !known:
		return "the Deployment of kube-controller-manager was not looked at. " + otherwiseLookedAt(o)
	case kcm.Replicas == 0:
		return kcm.String() + " is scaled to 0, so whether anything runs the cloud loops was not looked at. " + otherwiseLookedAt(o)
	}
	return "the arguments of " + kcm.String() + " run " + strings.Join(kcm.Arguments.CloudLoops(), ", ") + ". " +
		otherwiseLookedAt(o)
}

// otherwiseLookedAt says where the rest of what makes an in-tree cluster stands.
func otherwiseLookedAt(o observation.Observation) string {
	switch look := o.Cluster.Status.LookAhead; {
	case !wantsLooks(o.Cluster):
		return "The user cluster is not looked at, nor whether KCM leads, because spec.preflight.lookAhead is Never."
	case o.Look == observation.LookDone || look != nil && look.Leader != "":
		return "Condition ReadyToMigrate says what the last look into the user cluster found."
	}
	return "Whether KCM leads was not looked at yet; condition ReadyToMigrate says when the user cluster is."
}

// attendInTree judges whether KCM leads when a look asked, and says it until the next one. A CCM is no manager of an in-tree
// cluster. One look that sees no leader may be in the middle of a restart: CloudLoopsAttended has the patience, and it counts to
// the look, so that no pass which did not look claims more.
func attendInTree(in pass.Input, look ucv1.LookAheadStatus, decision Decision) *Attendance {
	if saysMore(decision) {
		return nil
	}
	switch {
	case look.Leader == ucv1.LeaderNotSeen:
		said := observation.Say("The last look could not see whether ", kcmCalled(in),
			" leads. Condition ReadyToMigrate says why, and status.lookAhead.nextAt when it is tried again.")
		return &Attendance{
			Status: metav1.ConditionUnknown, Reason: ucv1.CouldNotLookReason, Message: said.Words, Objects: said.Objects,
			Since: in.Facts.UnattendedSince,
		}
	case look.Leader != ucv1.LeaderMissing || in.Facts.UnattendedSince == nil || look.LeaderAt == nil:
		return nil
	}
	in.Now = look.LeaderAt.Time
	ccm := observation.Say("no CCM is to run them while the feature externalCloudProvider is off")
	kcm := observation.Say("the last look saw no process of ", kcmCalled(in), " that leads")
	return unattended(in, attends{why: ccm}, attends{why: kcm}, decision)
}

// unattendedInTree is since when no KCM leads, as far as a look tells.
func unattendedInTree(in pass.Input, leader ucv1.LookedLeader) *metav1.Time {
	switch leader {
	case ucv1.LeaderMissing:
		return unattendedSince(in)
	case ucv1.LeaderLeads, ucv1.LeaderHibernated:
		return nil
	case ucv1.LeaderNotSeen:
	}
	return in.Facts.UnattendedSince
}

// kcmHolds: a process of KCM that runs the loops holds the Lease, which one read can tell. It is said to renew it only when that
// was seen.
func kcmHolds(in pass.Input) attends {
	kcm := kcmAttends(in)
	able, _ := processesOf(in, in.ControlPlane.Value().KCM)
	lease := in.KCMLease.Value()
	holds := func(process observation.Process) bool {
		return handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
	}
	if kcm.state == tooEarly && lease.Fresh(in.Now) && slices.ContainsFunc(able, holds) {
		return attends{runsLoops, observation.Say("KCM holds ", lease)}
	}
	return kcm
}

// leader is what a look saw of KCM.
func leader(in pass.Input) ucv1.LookedLeader {
	if hibernated(in) {
		return ucv1.LeaderHibernated
	}
	switch kcmHolds(in).state {
	case runsLoops:
		return ucv1.LeaderLeads
	case runsNone:
		return ucv1.LeaderMissing
	case cannotTell, tooEarly:
	}
	return ucv1.LeaderNotSeen
}

func kcmCalled(in pass.Input) observation.Text {
	if in.Cluster.Spec.ControlPlane.Static() {
		return observation.Say("KCM")
	}
	return observation.Say(components.KCMReference(in))
}

// soonerLook is when one that saw no leader is made again: when the patience ends, and afterwards so that it is over soon.
func soonerLook(in pass.Input, look ucv1.LookAheadStatus, attendance *Attendance) *metav1.Time {
	if attendance == nil || in.Look != observation.LookDone {
		return look.NextAt
	}
	wait := lookAfterChange
	switch {
	case attendance.Status == metav1.ConditionUnknown:
		wait = retryLook(in, look) + share(lookJitter, string(in.Cluster.UID), in.Now)
	case !attendance.NeedsPerson:
		wait = max(attendance.LookAfter, leaderElection)
	}
	return in.StampAfter(wait)
}
