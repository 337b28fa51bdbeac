package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/loops"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// Needs are what a pass observes and renders besides what every pass does. What they leave out is not observed, so no row may
// rest on it.
type Needs struct {
	// What is looked at: the plan before the start, what preflight and, later, the cloud are asked, the canary, StorageClasses, our
	// right to KCM's Lease, how long Nodes and load balancers take, the volumes that the CSI driver has registered, load balancers
	// in the cloud, and what only a rollback rests on.
	Plan, Preflight, Cloud, Canary, StorageClasses, KCMLeaseRight, Measurements, RegisteredVolumes, OldLoadBalancers, Rollback bool
	// ServerVersion is for an upgrade in the middle of the hand-over.
	ServerVersion bool
	// Proof says that what is done or recorded may rest on who runs the cloud loops at this moment, so that a decision to do so is
	// made of what was read for it.
	Proof bool
	// ClosedFence says that a closed fence is a part of that: while KCM may run the loops, and whenever it is to run them again.
	ClosedFence bool
	// LookAhead is for a cluster whose feature is off.
	LookAhead bool
	// What is wanted in the user cluster: the probe, the migration lock, and agents of the CCM on Nodes.
	Probe, Lock, NodeAgents bool
	// What is not wanted there yet, or not any more: the CCM's workload, its loop cloud-node, and all addons.
	WithholdWorkload, WithholdCloudNode, WithdrawAddons bool
}

// NeedsOf rests on the spec, the facts, the catalogue and the time, and on nothing that a pass observes.
func NeedsOf(cluster *ucv1.Cluster, provider observation.Provider, now time.Time) Needs {
	facts := cluster.Status.Facts
	return Needs{
		Plan:              start.WantsPlan(cluster),
		Preflight:         start.JudgesPreflight(facts),
		Cloud:             start.JudgesCloud(facts),
		ServerVersion:     start.AwaitsUpgrade(facts),
		Canary:            looksAtCanary(facts),
		StorageClasses:    wantsStorageClasses(facts),
		KCMLeaseRight:     loops.LooksAtKCMLeaseRight(facts),
		Measurements:      rollout.Measures(cluster, now),
		RegisteredVolumes: wantsRegistered(facts, provider),
		OldLoadBalancers:  renamesLoadBalancers(cluster, provider),
		Rollback:          looksForRollback(cluster),
		Proof:             provesNow(facts),
		ClosedFence:       provesFence(facts),
		LookAhead:         looksAhead(cluster, now),
		Probe:             loops.WantsProbe(cluster),
		Lock:              start.WantsLock(facts),
		NodeAgents:        start.WantsNodeAgents(facts),
		WithholdWorkload:  start.WithholdsWorkload(facts),
		WithholdCloudNode: loops.WithholdsCloudNode(facts, provider),
		WithdrawAddons:    start.WithdrawsAddons(facts),
	}
}

// provesNow: from the start until the hand-over is done, and from then on only when it is rolled back.
func provesNow(facts ucv1.Facts) bool {
	return facts.Origin == ucv1.OriginMigrating && facts.StartedAt != nil && !staysHandedOver(facts)
}

// staysHandedOver says that the CCM runs the cloud loops, and is to go on.
func staysHandedOver(facts ucv1.Facts) bool {
	return facts.Handover != nil && facts.Handover.FinishedAt != nil && facts.Rollback == nil
}

func provesFence(facts ucv1.Facts) bool {
	return provesNow(facts) && (facts.Rollback != nil || facts.Handover == nil || facts.Handover.LoopsOffAt == nil)
}

// looksAtCanary says that there may be something of a canary.
func looksAtCanary(facts ucv1.Facts) bool { return facts.Canary != nil && facts.CompletedAt == nil }

// wantsStorageClasses says that StorageClasses are looked at: to judge the default one, or to choose that of the canary.
func wantsStorageClasses(facts ucv1.Facts) bool {
	return judgesDefaultClass(facts) || (facts.Canary != nil && facts.Canary.ProvenAt == nil)
}

// wantsRegistered says that it is worth to look which in-tree volumes the CSI driver knows: Nodes are about to be drained.
func wantsRegistered(facts ucv1.Facts, provider observation.Provider) bool {
	return provider.RegisteredBy != "" && facts.MachineControllerConfiguredAt != nil && facts.CompletedAt == nil &&
		facts.Rollback == nil
}
