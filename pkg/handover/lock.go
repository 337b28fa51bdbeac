package handover

import (
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
	// LockPath tells our file from others: a process with it in its arguments has our lock.
	LockPath = lockFolder + "/" + lockKey

	// KCMUser is who KCM is to the API server of the user cluster; that is the name which Kubernetes binds its roles to.
	// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#core-component-roles
	KCMUser = "system:kube-controller-manager"
)

// LockName is the name of the lock's Lease.
const LockName = leadermigration.UpstreamLockName

// LockConfiguration is what arms a manager.
type LockConfiguration struct {
	File  outcome.MountedFile
	Flags []outcome.Flag
	// Breaks are the rules of the lock that it breaks, as it is meant to.
	Breaks []leadermigration.Violation
}

// RenderLock renders the lock for KCM and CCM of the cluster. Every condition that fails is a sentence.
func RenderLock(cluster *ucv1.Cluster, provider string) (configuration LockConfiguration, problems []string) {
	from, to, err := lockVersions(cluster)
	if err != nil {
		return LockConfiguration{}, []string{"spec.version: " + err.Error() + "."}
	}
	artifacts, violations := leadermigration.Render(
		leadermigration.Plan{From: from, To: to, Provider: provider, ConfigPath: LockPath},
	)
	for _, violation := range violations {
		if violation.Severity == leadermigration.SeverityError {
			problems = append(problems, violation.Message+" "+violation.Fix)
			continue
		}
		configuration.Breaks = append(configuration.Breaks, violation)
	}
	if from.Minor < leadermigration.WildcardMinor {
		problems = append(problems, "Kubernetes "+from.String()+" has no lock that both managers read from one file.")
	}
	if len(problems) > 0 {
		return LockConfiguration{}, problems
	}
	configuration.File = outcome.MountedFile{
		Volume: LockVolume, Folder: lockFolder, Key: lockKey, Data: artifacts.Files[leadermigration.KCM],
	}
	for _, flag := range artifacts.KCM {
		if flag.Name != "--leader-elect" { // It is on already, which was asked for.
			configuration.Flags = append(configuration.Flags, outcome.Flag{Name: flag.Name, Value: flag.Value})
		}
	}
	return configuration, nil
}

// lockVersions are that of the KCM which gives the loops away, and that of the CCM which gets them. Across minors the one that is
// not in the spec, before or after the upgrade, is known by its minor.
func lockVersions(cluster *ucv1.Cluster) (from, to leadermigration.Version, err error) {
	written, err := leadermigration.ParseVersion(cluster.Spec.Version)
	switch {
	case err != nil || !AcrossMinors(cluster):
		return written, written, err
	case written.Minor == UpgradeMinor(cluster.Status.Facts):
		return leadermigration.OfMinor(written.Minor - 1), written, nil
	}
	return written, leadermigration.OfMinor(written.Minor + 1), nil
}

// AcrossMinors says that KCM of one minor hands the loops over to the CCM of the next one.
func AcrossMinors(cluster *ucv1.Cluster) bool {
	if recorded := cluster.Status.Handover; recorded != nil {
		return recorded.LeaderMigration == ucv1.AcrossMinorsLeaderMigration
	}
	return cluster.Spec.Handover.LeaderMigration == ucv1.AcrossMinorsLeaderMigration
}

// UpgradeMinor is the minor to which the owner may upgrade in the middle of the hand-over; 0: to none.
func UpgradeMinor(facts ucv1.Facts) int {
	if facts.Handover == nil {
		return 0
	}
	return observation.MinorOf(facts.Handover.UpgradeAllowedTo)
}

// ConcernsLock says whether the lock has to be looked at.
func ConcernsLock(cluster *ucv1.Cluster) bool {
	handover := cluster.Status.Handover
	if handover == nil {
		return cluster.Spec.Handover.Protocol == ucv1.LeaderMigrationProtocolChoice
	}
	return handover.Protocol == ucv1.LeaderMigrationProtocol && handover.FinishedAt == nil
}

// LockConfigMap is the ConfigMap beside the Cluster with the lock's file for KCM.
func LockConfigMap(cluster *ucv1.Cluster) string { return cluster.Name + "-ccm-migration-lock" }
