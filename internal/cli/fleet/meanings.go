package fleet

import (
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/fleet"
)

// who ends an obstacle.
type who string

// Those who do.
const (
	// you operate the fleet.
	you who = "FleetOperator"
	// owner of the Cluster.
	owner who = "ClusterOwner"
	// clock: it ends at a time.
	clock who = "Time"
	// others: it ends when other Clusters get further.
	others who = "OtherClusters"
	// manager: it ends when the controller has looked.
	manager who = "Controller"
)

// words for people.
func (w who) words() string {
	return map[who]string{
		you: "You", owner: "The owner of the Cluster", clock: "Time", others: "Other Clusters, as they get further",
		manager: "The controller",
	}[w]
}

// acts says that a person has to do something.
func (w who) acts() bool { return w == you || w == owner }

// meaning of an obstacle.
type meaning struct {
	endedBy who
	// says what is in the way and what ends it, about the Cluster CLUSTER, its FleetMigration FLEET, its wave WAVE, and BEFORE, the
	// first wave that has not passed. OF is what the obstacle is about.
	says string
}

// meaningOf a reason. Those of a user cluster that cannot be asked are many, and all alike.
func meaningOf(reason string) meaning {
	for _, meanings := range []map[string]meaning{meaningsOfFleets(), meaningsOfStops(), meaningsOfClusters(), meaningsOfLimits()} {
		if m, known := meanings[reason]; known {
			return m
		}
	}
	return meaning{owner, "The API server of the user cluster could not be asked (" + reason + "). " +
		"'ccm-migration-controller why CLUSTER' says what to do."}
}

// meaningsOfFleets are about which FleetMigration and wave a Cluster is in.
func meaningsOfFleets() map[string]meaning {
	return map[string]meaning{
		ucv1.QueuedReason: {manager,
			"Cluster CLUSTER waits for a FleetMigration to admit it."},
		ucv1.NoFleetMigrationReason: {you,
			"No FleetMigration selects Cluster CLUSTER, and the manager runs with --fleet-admission=Required. Add " +
				"a label that one selects, or set spec.admission to Immediate."},
		ucv1.FleetMigrationGoneReason: {you,
			"FleetMigration OF claimed Cluster CLUSTER and was deleted. Make one that selects the Cluster, or set " +
				"spec.admission of the Cluster to Immediate."},
		ucv1.NotSelectedReason: {you,
			"FleetMigration OF claimed Cluster CLUSTER and selects it no longer. Restore the labels, make another " +
				"FleetMigration select it, or set spec.admission of the Cluster to Immediate."},
		ucv1.ClaimedElsewhereReason: {you,
			"Another FleetMigration has Cluster CLUSTER. Select it in one of them only, or give the other one a " +
				"lower spec.priority."},
		ucv1.UnplacedReason: {you,
			"No wave of FleetMigration FLEET selects Cluster CLUSTER, so that it never starts. Add a wave, or a " +
				"label that a wave selects."},
		ucv1.WaveWaitingReason: {others,
			"Wave OF opens when wave BEFORE has passed."},
		ucv1.AwaitingApprovalReason: {you,
			"Wave OF could open and needs an approval. '" + program + "gate FLEET WAVE' has the report and the " +
				"command."},
		ucv1.CouldNotLookReason: {manager,
			"Which FleetMigration selects Cluster CLUSTER is not known yet."},
	}
}

// meaningsOfStops are about what stops a whole FleetMigration.
func meaningsOfStops() map[string]meaning {
	return map[string]meaning{
		ucv1.FleetHaltedReason: {you,
			"FleetMigration OF halted. Look at the failed Clusters; '" + program + "status OF' has the command that " +
				"resumes it."},
		ucv1.FleetRollsBackReason: {you,
			"FleetMigration OF rolls Clusters back and admits none meanwhile. Remove spec.rollback when that is " +
				"done."},
		ucv1.FleetSpecInvalidReason: {you,
			"The spec of FleetMigration OF cannot be followed. Correct it: '" + program + "status OF' lists the " +
				"problems."},
		ucv1.FleetOnHoldReason: {you,
			"spec.mode of FleetMigration OF is Hold. Set it to Run to admit Clusters."},
		ucv1.FleetPlanOnlyReason: {you,
			"spec.mode of FleetMigration OF is PlanOnly. Set it to Run to admit Clusters."},
		ucv1.DeletingReason: {you,
			"FleetMigration OF is being deleted and admits no Cluster. Make another one that selects the Cluster."},
		ucv1.FirstWaveEmptyReason: {you,
			"The first wave of FleetMigration OF selects no Cluster. Correct its clusterSelector."},
		ucv1.NoWindowAheadReason: {you,
			"No window of FleetMigration FLEET opens within 32 days. Correct the schedules in spec.maintenance, " +
				"or the exclusions."},
	}
}

// meaningsOfClusters are about the Cluster itself.
func meaningsOfClusters() map[string]meaning {
	return map[string]meaning{
		ucv1.NodesUnknownReason: {manager,
			"How many Nodes Cluster CLUSTER has is not known, so that no budget could count them. The controller " +
				"counts them when it next looks into the user cluster."},
		ucv1.PreflightUnknownReason: {manager,
			"Cluster CLUSTER was not looked at within 26 hours. The controller looks again before it admits it, unless " +
				"spec.preflight.lookAhead is Never: set that to Daily."},
		ucv1.PreflightFindingsReason: {owner,
			"Findings block the migration of Cluster CLUSTER. 'ccm-migration-controller why CLUSTER' lists them " +
				"and says what to do."},
		ucv1.PausedReason: {owner,
			"spec.paused of Cluster CLUSTER is true. Set it to false."},
		ucv1.PlanNotApprovedReason: {owner,
			"The plan of Cluster CLUSTER is not approved. 'ccm-migration-controller plan CLUSTER' prints the plan " +
				"and its digest for spec.approval.planDigest."},
		ucv1.FeatureOwnedElsewhereReason: {owner,
			"spec.features.externalCloudProvider of Cluster CLUSTER is written out as false. Remove the field from what " +
				"applies it, so that FleetMigration FLEET can set it."},
		ucv1.WindowsInvalidReason: {owner,
			"spec.maintenance.windows of Cluster CLUSTER cannot be read. Correct them, or remove them."},
	}
}

// meaningsOfLimits are about windows, budgets and rates.
func meaningsOfLimits() map[string]meaning {
	return map[string]meaning{
		ucv1.NoWindowReason: {you,
			"There are windows, and none is for Cluster CLUSTER, so that it never starts. Add a window that " +
				"selects it in spec.maintenance of OF."},
		ucv1.WindowClosedReason: {clock,
			"No window of OF is open, or too little of one is left for a start."},
		ucv1.ExcludedReason: {clock,
			"Exclusion OF is in force: no Cluster starts."},
		ucv1.ConcurrencyReachedReason: {others,
			"As many Clusters of wave OF migrate as its maxConcurrency allows. It ends when one of them is done; " +
				"raise maxConcurrency if none is in flight."},
		ucv1.CanariesFirstReason: {others,
			"The canaries of wave OF have to succeed and soak before the others start."},
		ucv1.BudgetExhaustedReason: {others,
			"Budget OF has no room for Cluster CLUSTER. It ends when Clusters that count in it are done."},
		ucv1.BudgetReservedReason: {others,
			"Budget OF is kept for a larger Cluster that has waited for long. It ends when that one has started."},
		ucv1.StartsPerHourReason: {clock,
			"As many Clusters started within the hour as spec.maxStartsPerHour of FleetMigration OF allows."},
		ucv1.ProgressDeadlineExceededReason: {you,
			"Cluster CLUSTER takes longer than spec.failures.progressDeadlineSeconds. 'ccm-migration-controller " +
				"why CLUSTER' says what it waits for."},
		ucv1.MaxFailuresExceededReason: {you,
			"More Clusters have failed than may. '" + program + "failures FLEET --by reason' counts them."},
	}
}

// names that the sentence of an obstacle is about.
type names struct {
	cluster, fleetMigration, wave string
	// before is the first wave that has not passed.
	before string
}

// sentence of an obstacle of a Cluster.
func (m meaning) sentence(o fleet.Obstacle, about names) string {
	return strings.NewReplacer("CLUSTER", about.cluster, "FLEET", about.fleetMigration, "WAVE", about.wave,
		"BEFORE", about.before, "OF", o.Of).Replace(m.says)
}
