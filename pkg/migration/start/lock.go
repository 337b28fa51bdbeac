package start

import (
	"fmt"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// WantsLock says that the CCM is to have the migration lock.
func WantsLock(facts ucv1.Facts) bool {
	handover := facts.Handover
	return handover != nil && handover.Protocol == ucv1.LeaderMigrationProtocol && handover.LockTakenAt == nil && !Withdrawn(facts)
}

// lockReason says who asked for the protocol, and which rules of the lock it breaks: in one minor, one kind of manager is to have
// the lock.
func lockReason(in pass.Input) string {
	reason := "spec.handover.protocol asks for it."
	provider, known := in.Provider.Get()
	if !known {
		return reason
	}
	configuration, _ := handover.RenderLock(in.Cluster, provider.InTreeName)
	for _, broken := range configuration.Breaks {
		reason += " It breaks rule " + string(broken.Rule) + ": " + broken.Message
	}
	return reason
}

// lockFindings are all objections against protocol LeaderMigration, before anything is touched.
func lockFindings(in pass.Input) (findings []observation.Finding, unknown string) {
	if in.Cluster.Spec.Handover.Protocol != ucv1.LeaderMigrationProtocolChoice {
		return nil, ""
	}
	var problems []observation.Text
	if provider, known := in.Provider.Get(); known {
		_, unfit := handover.RenderLock(in.Cluster, provider.InTreeName)
		problems = append(problems, observation.Texts(unfit)...)
		problems = append(problems, nextMinorProblems(in, provider)...)
	}
	if controlPlane, known := in.ControlPlane.Get(); known && controlPlane.KCM.Arguments.Understood() {
		problems = append(problems, lockTargetProblems(in, controlPlane.KCM)...)
	}
	held, unknown := lockIsHeld(in)
	problems = append(problems, held...)
	for _, problem := range problems {
		findings = append(
			findings,
			*blocking(FindingMigrationLock, ucv1.MigrationLockRefusedReason, "Protocol LeaderMigration cannot work: ", problem),
		)
	}
	return findings, unknown
}

// nextMinorProblems are those of a hand-over across minors: its CCM is of the next one, and is to come after kube-apiserver.
func nextMinorProblems(in pass.Input, provider observation.Provider) (problems []observation.Text) {
	if !handover.AcrossMinors(in.Cluster) {
		return nil
	}
	if provider.NextVersionProblem != "" {
		problems = append(problems, observation.Say(fmt.Sprintf("AcrossMinors needs the CCM of 1.%d: ", in.Minor()+1),
			provider.NextVersionProblem))
	}
	if controlPlane, known := in.ControlPlane.Get(); known && len(controlPlane.APIServers()) == 0 {
		problems = append(problems, observation.Say("AcrossMinors has to see that every kube-apiserver was upgraded, and none was "+
			"found beside KCM: name its Deployment in spec.controlPlane.kubeAPIServer, or use SameMinor."))
	}
	return problems
}

func lockIsHeld(in pass.Input) (problems []observation.Text, unknown string) {
	lock, known := in.Lock.Get()
	switch {
	case !known && in.Connection.Reachable:
		return nil, "the migration lock: " + in.Lock.Why()
	case known && lock.Lease.Holder != "" && !lock.Lease.Stale(in.Now):
		return []observation.Text{observation.Say(lock.Lease, " is held by "+lock.Lease.Holder+
			" already: someone else hands loops over by it. Wait until that is done.")}, ""
	}
	return nil, ""
}

// lockTargetProblems are those of the first part of KCM that has any: static pods need not agree.
func lockTargetProblems(in pass.Input, kcm observation.Component) []observation.Text {
	for _, t := range components.Targets(in, kcm) {
		if problems := lockArgumentProblems(in, t); len(problems) > 0 {
			return problems
		}
	}
	return nil
}

// lockArgumentProblems are those of KCM's own arguments.
func lockArgumentProblems(in pass.Input, t components.Target) (problems []observation.Text) {
	arguments, problem := t.Component.Arguments, func(what string) { problems = append(problems, observation.Say(t, what)) }
	if len(arguments.CloudLoops()) == 0 {
		problem(" runs no cloud loop in-tree, so there is nothing to hand over by a lock.")
	}
	if !arguments.True("leader-elect", true) {
		problem(" runs with --leader-elect=false, and without leader election it ignores the lock.")
	}
	if arguments.True("enable-leader-migration", false) {
		problem(" has --enable-leader-migration already; take it out, so that one lock is in use.")
	}
	// Both managers keep the migration lock in the namespace of their main one.
	// https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/controllermanager.go#L353
	ours, _, _ := strings.Cut(in.Fence.Value().Lease, "/")
	if theirs, _ := arguments.LeaderLease(); ours != "" && theirs != ours {
		problem(" keeps its Leases in namespace " + theirs + " and the CCM in " + ours +
			", so they would have two locks; remove --leader-elect-resource-namespace.")
	}
	return problems
}
