package migration

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/leadermigration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const (
	// LockVolume is the volume of the lock's file in KCM's pods and in the CCM's.
	LockVolume = "ccm-migration-lock"
	lockFolder = "/etc/ccm-migration"
	lockKey    = "leader-migration.yaml"
	// lockPath tells our file from others: a process with it in its arguments has our lock.
	lockPath = lockFolder + "/" + lockKey

	// KCMUser is who KCM is to the API server of the user cluster; that is the name which Kubernetes binds its roles to.
	// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#core-component-roles
	KCMUser = "system:kube-controller-manager"

	// wildcardMinor is the first whose file can be the same for both managers, and that needs no feature gate
	// (https://github.com/kubernetes/kubernetes/pull/102711).
	wildcardMinor = 22
)

// LockName is the name of the lock's Lease.
const LockName = leadermigration.UpstreamLockName

// ConcernsLock says whether the lock has to be looked at.
func ConcernsLock(cluster *ucv1.Cluster) bool {
	handover := cluster.Status.Handover
	if handover == nil {
		return cluster.Spec.Handover.Protocol == ucv1.LeaderMigrationProtocolChoice
	}
	return handover.Protocol == ucv1.LeaderMigrationProtocol && handover.FinishedAt == nil
}

// wantsLock says that the CCM is to have the migration lock.
func wantsLock(facts ucv1.Facts) bool {
	handover := facts.Handover
	return handover != nil && handover.Protocol == ucv1.LeaderMigrationProtocol && handover.LockTakenAt == nil && !withdrawn(facts)
}

// LockConfiguration is what arms a manager.
type LockConfiguration struct {
	File  outcome.MountedFile
	Flags []outcome.Flag
}

// RenderLock renders the lock for KCM and CCM of one version. Every condition that fails is a sentence.
func RenderLock(version, provider string) (configuration LockConfiguration, problems []string) {
	parsed, err := leadermigration.ParseVersion(version)
	if err != nil {
		return LockConfiguration{}, []string{"spec.version: " + err.Error() + "."}
	}
	artifacts, violations := leadermigration.Render(leadermigration.Plan{From: parsed, To: parsed, Provider: provider, ConfigPath: lockPath})
	for _, violation := range violations {
		if violation.Severity == leadermigration.SeverityError {
			problems = append(problems, violation.Message+" "+violation.Fix)
		}
	}
	if parsed.Minor < wildcardMinor {
		problems = append(problems, "Kubernetes "+parsed.String()+" has no lock that both managers read from one file.")
	}
	if len(problems) > 0 {
		return LockConfiguration{}, problems
	}
	configuration.File = outcome.MountedFile{Volume: LockVolume, Folder: lockFolder, Key: lockKey, Data: string(artifacts.KCMFile)}
	for _, flag := range artifacts.KCM {
		if flag.Name != "--leader-elect" { // It is on already, which was asked for.
			configuration.Flags = append(configuration.Flags, outcome.Flag{Name: flag.Name, Value: flag.Value})
		}
	}
	return configuration, nil
}

// lockFindings are all objections against protocol LeaderMigration, before anything is touched.
func (p *pass) lockFindings() (findings []observation.Finding, unknown string) {
	if p.o.Cluster.Spec.Handover.Protocol != ucv1.LeaderMigrationProtocolChoice {
		return nil, ""
	}
	var problems []string
	if p.o.Cluster.Spec.ControlPlane.Instructed() {
		problems = append(problems, "the control plane is changed by someone else, and instructions for the lock are not written yet.")
	}
	if provider, known := p.o.Provider.Get(); known {
		_, unfit := RenderLock(p.o.Cluster.Spec.Version, provider.InTreeName)
		problems = append(problems, unfit...)
	}
	if controlPlane, known := p.o.ControlPlane.Get(); known && controlPlane.KCM.Arguments.Understood() {
		problems = append(problems, p.lockArgumentProblems(controlPlane.KCM)...)
	}
	held, unknown := p.lockIsHeld()
	problems = append(problems, held...)
	for _, problem := range problems {
		findings = append(findings, *blocking(FindingMigrationLock, ucv1.MigrationLockRefusedReason, "Protocol LeaderMigration cannot work: "+problem))
	}
	return findings, unknown
}

func (p *pass) lockIsHeld() (problems []string, unknown string) {
	lock, known := p.o.Lock.Get()
	switch {
	case !known && p.o.Connection.Reachable:
		return nil, "the migration lock: " + p.o.Lock.Why()
	case known && lock.Lease.Holder != "" && !lock.Lease.Stale(p.now):
		return []string{lock.Lease.String() + " is held by " + lock.Lease.Holder + " already: someone else hands loops over by it. Wait until that is done."}, ""
	}
	return nil, ""
}

// lockArgumentProblems are those of KCM's own arguments.
func (p *pass) lockArgumentProblems(kcm observation.Component) (problems []string) {
	arguments := kcm.Arguments
	if len(arguments.CloudLoops()) == 0 {
		problems = append(problems, kcm.String()+" runs no cloud loop in-tree, so there is nothing to hand over by a lock.")
	}
	if !arguments.True("leader-elect", true) {
		problems = append(problems, kcm.String()+" runs with --leader-elect=false, and without leader election it ignores the lock.")
	}
	if arguments.True("enable-leader-migration", false) {
		problems = append(problems, kcm.String()+" has --enable-leader-migration already; take it out, so that one lock is in use.")
	}
	// Both managers keep the migration lock in the namespace of their main one.
	// https://github.com/kubernetes/kubernetes/blob/v1.30.14/cmd/kube-controller-manager/app/controllermanager.go#L353
	ours, _, _ := strings.Cut(p.o.Fence.Value().Lease, "/")
	if theirs, _ := arguments.LeaderLease(); ours != "" && theirs != ours {
		problems = append(problems, kcm.String()+" keeps its Leases in namespace "+theirs+" and the CCM in "+ours+
			", so they would have two locks; remove --leader-elect-resource-namespace.")
	}
	return problems
}

// armed says that a process has our lock: it runs the migrated loops only while it holds that.
func armed(arguments observation.Arguments) bool {
	path, _ := arguments.Flag("leader-migration-config")
	return arguments.Understood() && path == lockPath && arguments.True("enable-leader-migration", false) && arguments.True("leader-elect", true)
}

// mayRunUnlocked says that a process may run cloud loops whoever holds the lock.
func mayRunUnlocked(arguments observation.Arguments) bool {
	return mayRunLoops(observation.Process{Arguments: arguments}) && !armed(arguments)
}

// lockDoubts is what stands between us and a CCM that leads with the lock: every KCM process that could run cloud loops
// without it has to have ended. It is the proof of silence, with armed processes taken for silent.
func (p *pass) lockDoubts() []string {
	controlPlane, known := p.o.ControlPlane.Get()
	if !known {
		return []string{"Could not look at the control plane: " + p.o.ControlPlane.Why() + "."}
	}
	kcm := controlPlane.KCM
	var doubts []string
	if mayRunUnlocked(kcm.Arguments) {
		doubts = append(doubts, kcm.String()+" would start pods that run cloud loops without the migration lock.")
	}
	if !kcm.RolledOut {
		doubts = append(doubts, kcm.String()+" is still rolling out.")
	}
	doubts = append(doubts, p.unlockedProcesses(kcm)...)
	if len(doubts) > 0 {
		return doubts
	}
	lease, known := p.o.KCMLease.Get()
	if known && heldByArmedPod(lease, kcm) {
		return nil
	}
	if doubt := p.leaseDoubt(kcm); doubt != "" {
		return []string{doubt}
	}
	return nil
}

func (p *pass) unlockedProcesses(kcm observation.Component) []string {
	ended, seen := map[string]bool{}, map[string]bool{}
	for _, process := range p.facts.Handover.Processes {
		ended[process.PodUID] = process.EndedAt != nil
	}
	var doubts []string
	for _, process := range kcm.Pods {
		seen[process.PodUID] = true
		if !process.Ended && !ended[process.PodUID] && mayRunUnlocked(process.Arguments) {
			doubts = append(doubts, "Pod "+kcm.Namespace+"/"+process.PodName+" may run cloud loops without the migration lock.")
		}
	}
	for _, process := range p.facts.Handover.Processes {
		if process.EndedAt == nil && !seen[process.PodUID] {
			doubts = append(doubts, p.unended(kcm, process))
		}
	}
	slices.Sort(doubts)
	return doubts
}

// heldByArmedPod is heldBySilentPod for pods with the lock.
func heldByArmedPod(lease observation.Lease, kcm observation.Component) bool {
	return slices.ContainsFunc(kcm.Pods, func(process observation.Process) bool {
		return armed(process.Arguments) && process.Started && !process.Ended &&
			heldBy(lease, process.PodName, process.NodeName) && !lease.AcquireTime.Before(process.StartedAt)
	})
}
