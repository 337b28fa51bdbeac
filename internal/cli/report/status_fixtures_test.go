package report

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

// ago is a moment before noon.
func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon().Add(-d)) }

// cluster of the fixtures stands at a step of its table: the conditions of the rows before it are True.
func clusterAt(name string, origin ucv1.Origin, step ucv1.Step, changes ...func(*ucv1.Cluster)) ucv1.Cluster {
	on := origin != ucv1.OriginInTree
	c := ucv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "user-" + name, Name: name, CreationTimestamp: ago(time.Hour), Generation: 2},
	}
	c.Spec.Version, c.Spec.Cloud.ProviderName, c.Spec.Features.ExternalCloudProvider = "1.30.14", "simcloud", &on
	c.Spec.Cloud.ConfigSecretRef.Name = name + "-cloud-config"
	c.Status.Origin, c.Status.Step, c.Status.ObservedGeneration = origin, step, 2
	if on {
		started := ago(20 * time.Minute)
		c.Status.StartedAt = &started
		rowsBefore(&c, step)
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func rowsBefore(c *ucv1.Cluster, step ucv1.Step) {
	for i, row := range migration.Table(c.Status.Origin) {
		for _, condition := range row.Conditions {
			state := metav1.ConditionTrue
			if row.Step == step {
				state = metav1.ConditionFalse
			}
			set(c, condition, state, ucv1.HoldsReason, "The step's post-condition holds.", 20*time.Minute)
		}
		c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
			Time: ago(20*time.Minute - time.Duration(i)*time.Minute), Kind: ucv1.TimelineStep, Step: row.Step, Actor: ucv1.FieldManager,
		})
		if row.Step == step {
			return
		}
	}
}

func set(c *ucv1.Cluster, kind string, status metav1.ConditionStatus, reason, message string, since time.Duration) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(since),
	})
}

func stands(status metav1.ConditionStatus, reason, message string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		set(c, ucv1.ReadyCondition, status, reason, message, 12*time.Minute)
		c.Status.About = observation.NamesOf(messages.Said(message)[0].Objects)
		if status != metav1.ConditionTrue {
			set(c, ucv1.ReconcilingCondition, metav1.ConditionTrue, reason, message, 12*time.Minute)
		}
	}
}

func stalls(reason, message string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		set(c, ucv1.ReadyCondition, metav1.ConditionFalse, reason, message, 20*time.Minute)
		c.Status.About = observation.NamesOf(messages.Said(message)[0].Objects)
		set(c, ucv1.StalledCondition, metav1.ConditionTrue, reason, message, 12*time.Minute)
		c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
			Time: ago(12 * time.Minute), Kind: ucv1.TimelineFailure, Step: c.Status.Step, Reason: reason, Message: message,
			Actor: ucv1.FieldManager,
		})
	}
}

func machines(upToDate, total, blocked int32) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		c.Status.Machines = &ucv1.ProgressCount{UpToDate: upToDate, Total: total, Blocked: blocked}
		c.Status.Nodes = &ucv1.NodeCount{Initialized: upToDate, Total: total}
		c.Status.Addons = &ucv1.AddonsStatus{CloudControllerManagerVersion: "v1.30.1", CSIVersion: "v1.30.0", Objects: 14}
	}
}

func byFence(line string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		c.Status.Handover = &ucv1.HandoverStatus{Protocol: ucv1.FencedProtocol, Stage: line,
			PointOfNoReturn: &ucv1.PointOfNoReturnStatus{State: ucv1.PointOfNoReturnAhead}}
		if line == "" {
			finished := ago(16 * time.Minute)
			c.Status.Handover.FinishedAt, c.Status.Handover.GapSeconds = &finished, new(int64(3))
		}
	}
}

func vouched(c *ucv1.Cluster) {
	c.Status.Acceptances = []ucv1.AcceptanceStatus{
		{Field: "spec.rollout.acceptNodes", Value: "bastion", By: "kubectl-edit", SeenAt: ago(15 * time.Minute)},
	}
	c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
		Time: ago(15 * time.Minute), Kind: ucv1.TimelineAcceptance, Step: ucv1.StepRoll, Actor: "kubectl-edit",
		Objects: []string{"bastion"},
		Message: "Accepted in spec.rollout.acceptNodes: bastion.",
	})
}

func rolled(c *ucv1.Cluster) {
	c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
		Time: ago(13 * time.Minute), Kind: ucv1.TimelineAction, Step: ucv1.StepRoll, Actor: ucv1.FieldManager,
		Action:  "RollMachineDeployment",
		Message: "Rolling MachineDeployment kube-system/pool-a.", Objects: []string{"MachineDeployment kube-system/pool-a"},
	})
}

// stillMoves is what the controller says of a pause in the middle of a roll.
const stillMoves = "spec.paused is true: the controller changes nothing. No further step is granted to MachineDeployment " +
	"kube-system/pool-a, but the machine-controller still replaces what maxSurge and maxUnavailable allow, and goes on " +
	"deleting the Machines that are going; its own Deployment at 0 replicas stops that, spec.paused of a MachineDeployment " +
	"does not."

func held(c *ucv1.Cluster) {
	c.Spec.Paused = true
	stands(
		metav1.ConditionFalse, ucv1.WaitingForMachinesReason, "Waiting for the Machines of MachineDeployment kube-system/pool-a.",
	)(c)
	set(c, ucv1.PausedCondition, metav1.ConditionTrue, ucv1.PausedReason, stillMoves, 5*time.Minute)
	c.Status.Timeline = append(c.Status.Timeline, ucv1.TimelineEntry{
		Time: ago(5 * time.Minute), Kind: ucv1.TimelineHalt, Step: ucv1.StepRoll, Actor: "kubectl-patch", Reason: "Paused",
		Message: "spec.paused was set: the controller changes nothing.",
	})
}

func rolledBack(c *ucv1.Cluster) {
	began := ago(4 * time.Minute)
	c.Status.Rollback = &ucv1.RollbackStatus{StartedAt: &began, MachineControllerRevertedAt: &began}
	c.Status.Timeline = append(
		c.Status.Timeline,
		ucv1.TimelineEntry{Time: began, Kind: ucv1.TimelineStep, Step: ucv1.StepRollbackRoll, Actor: ucv1.FieldManager},
	)
}

func completed(c *ucv1.Cluster) {
	done := ago(10 * time.Minute)
	c.Status.CompletedAt = &done
	set(
		c, ucv1.ReadyCondition, metav1.ConditionTrue, ucv1.MigratedReason,
		"The migration to the external cloud provider is completed.", 10*time.Minute,
	)
}

func unreachable(c *ucv1.Cluster) {
	stands(
		metav1.ConditionUnknown, ucv1.CouldNotLookReason,
		"Could not look at the addons: The API server of the user cluster does not answer.",
	)(c)
	set(
		c, ucv1.UserClusterReachableCondition, metav1.ConditionUnknown, ucv1.UnreachableReason,
		"The API server of the user cluster does not answer", 12*time.Minute,
	)
}

const loopsUnattended = "No manager has run the cloud loops (service-lb-controller) since 2026-01-01T11:55:00Z: no " +
	"process of Deployment user-psi/kube-controller-manager runs them, and the CCM may not lead yet. " +
	"New Nodes stay tainted, and load balancers and routes do not change. " +
	"The kubeconfig in Secret user-psi/psi-kubeconfig, key value has no credentials in its current context: embed a client " +
	"certificate or a token."

func unattendedFor(since time.Duration) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		message := strings.ReplaceAll(loopsUnattended, "psi", c.Name)
		set(c, ucv1.CloudLoopsAttendedCondition, metav1.ConditionFalse, ucv1.CloudLoopsUnattendedReason, message, since)
	}
}

// fleet has a Cluster of every state.
func fleet() []ucv1.Cluster {
	paused, fresh := ago(time.Minute), clusterAt("lambda", ucv1.OriginMigrating, "")
	fresh.Status = ucv1.ClusterStatus{}
	return []ucv1.Cluster{
		clusterAt("alpha", ucv1.OriginMigrating, ucv1.StepRoll, machines(3, 7, 0), byFence(""), vouched, rolled,
			stands(
				metav1.ConditionFalse, ucv1.WaitingForMachinesReason, "Waiting for the Machines of MachineDeployment kube-system/pool-a.",
			)),
		clusterAt("beta", ucv1.OriginExternal, ucv1.StepFinished, machines(2, 2, 0), byFence(""),
			stands(metav1.ConditionTrue, ucv1.ExternalReason,
				"The cluster was created with the external cloud provider; its addons are applied.")),
		clusterAt("gamma", ucv1.OriginMigrating, ucv1.StepRoll, machines(1, 3, 2), byFence(""), stalls(ucv1.BlockedMachinesReason,
			"These cannot be rolled: Machine kube-system/pet has no MachineDeployment; delete it or replace it with a "+
				"MachineDeployment of one replica, MachineDeployment kube-system/held is paused; unpause it.")),
		clusterAt("delta", ucv1.OriginInTree, ucv1.StepInTree, stands(metav1.ConditionTrue, ucv1.InTreeReason,
			"The feature externalCloudProvider is off; the arguments of Deployment user-delta/kube-controller-manager run "+
				"service-lb-controller. "+
				"Condition ReadyToMigrate says what a look into the user cluster found."), lookedAhead),
		clusterAt("epsilon", ucv1.OriginMigrating, ucv1.StepAddons, unreachable),
		clusterAt("zeta", ucv1.OriginMigrating, ucv1.StepHandover, byFence("Silent"),
			stands(metav1.ConditionFalse, ucv1.ProvingSilenceReason,
				"Pod user-zeta/kube-controller-manager-79c867b777-lr96c may run cloud loops and was not seen to end.")),
		clusterAt("eta", ucv1.OriginMigrating, ucv1.StepRoll, machines(3, 6, 0), byFence(""), held),
		clusterAt("theta", ucv1.OriginMigrating, ucv1.StepRollbackRoll, machines(4, 6, 0), byFence(""), rolledBack,
			stands(metav1.ConditionFalse,
				ucv1.WaitingForMachinesReason, "Waiting for the Machines of MachineDeployment kube-system/pool-a.")),
		clusterAt(
			"iota-with-a-name-that-is-longer-than-anybody-needs", ucv1.OriginMigrating, ucv1.StepFinished, machines(5, 5, 0),
			byFence(""), completed,
		),
		clusterAt("kappa", ucv1.OriginMigrating, ucv1.StepComplete, machines(5, 5, 0), byFence(""), stands(metav1.ConditionFalse,
			ucv1.WaitingBeforePointOfNoReturnReason, "Everything is proven; spec.handover.pauseBeforePointOfNoReturn is true.")),
		fresh,
		clusterAt("mu", ucv1.OriginMigrating, ucv1.StepAddons, func(c *ucv1.Cluster) { c.DeletionTimestamp = &paused },
			stands(metav1.ConditionFalse, ucv1.DeletingReason, "Letting the deleted Cluster go.")),
		clusterAt("nu", ucv1.OriginMigrating, ucv1.StepRolledBack, stands(metav1.ConditionTrue, ucv1.RolledBackReason,
			"The migration is rolled back; KCM runs the cloud loops. It starts again at spec.handover.retryAfter when that is "+
				"later than status.rollback.finishedAt and spec.handover.rollback is false.")),
		clusterAt("xi", ucv1.OriginMigrating, ucv1.StepAdmitted, stands(metav1.ConditionTrue, ucv1.QueuedReason,
			"FleetMigration north has queued the cluster in wave prod."), func(c *ucv1.Cluster) {
			c.Status.Admission = &ucv1.AdmissionStatus{
				FleetMigration: "north", UID: "uid-north", Wave: "prod", State: ucv1.AdmissionQueued,
			}
		}),
		clusterAt("omega", ucv1.OriginMigrating, ucv1.StepHandover, byFence("Silent"), unattendedFor(20*time.Second),
			stands(metav1.ConditionUnknown, ucv1.CouldNotLookReason,
				"Could not look at the fence: The API server of the user cluster does not answer.")),
		clusterAt(
			"psi", ucv1.OriginMigrating, ucv1.StepHandover, byFence("Silent"), unattendedFor(5*time.Minute),
			stalls(ucv1.CloudLoopsUnattendedReason, loopsUnattended),
		),
	}
}

// manyTroubles is the fleet with troubles that several Clusters have: two with words of their own, two with the same, and five.
func manyTroubles() []ucv1.Cluster {
	clusters := append(fleet(), clusterAt("rho", ucv1.OriginInTree, ucv1.StepInTree,
		stands(metav1.ConditionTrue, ucv1.InTreeReason, "The feature externalCloudProvider is off.")))
	for _, name := range []string{"tau", "upsilon"} {
		clusters = append(clusters, clusterAt(name, ucv1.OriginMigrating, ucv1.StepRoll, machines(1, 3, 2), byFence(""),
			stalls(ucv1.BreakerTrippedReason, "The last 2 Machines of MachineDeployment kube-system/pool-"+name[:1]+" did not become "+
				"Nodes: the roll stops.")),
			clusterAt(name+"-held", ucv1.OriginMigrating, ucv1.StepRoll, machines(1, 3, 2), byFence(""),
				stands(metav1.ConditionFalse, ucv1.HeldByFleetReason, "FleetMigration north holds the roll.")))
	}
	for _, node := range []string{"a", "b", "c", "d", "e"} {
		clusters = append(clusters, clusterAt("sigma-"+node, ucv1.OriginMigrating, ucv1.StepPreflight, foundNotReady(node),
			stalls(ucv1.PreflightFailedReason, "1 finding blocks the migration: not Ready: Node "+node+".")))
	}
	return clusters
}

func foundNotReady(node string) func(*ucv1.Cluster) {
	return func(c *ucv1.Cluster) {
		c.Status.Preflight = &ucv1.PreflightStatus{
			Blocking: 1,
			Findings: []ucv1.PreflightFinding{{ID: "NodeNotReady", Severity: "Blocking", Message: "Not Ready: Node " + node + "."}},
		}
	}
}

// one Cluster of the fleet.
func one(name string) *ucv1.Cluster {
	for _, cluster := range fleet() {
		if cluster.Name == name {
			return &cluster
		}
	}
	return nil
}

// lookedAhead is a cluster whose feature is off, and two things are in the way.
func lookedAhead(c *ucv1.Cluster) {
	c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
		Type: ucv1.ReadyToMigrateCondition, Status: metav1.ConditionFalse, Reason: ucv1.FindingsReason,
		LastTransitionTime: ago(12 * time.Minute),
		Message: "2 findings block a migration: DisruptionBudgetNeverAllows, NodeNotReady; also 1 warning. " +
			"status.preflight has the worst, status.lookAhead says when it was looked at.",
	})
	c.Status.Preflight = &ucv1.PreflightStatus{
		Blocking: 2, Warnings: 1,
		Findings: []ucv1.PreflightFinding{
			{ID: "NodeNotReady", Severity: "Blocking", Message: "Not Ready: Node b."},
			{ID: "DisruptionBudgetNeverAllows", Severity: "Blocking", Message: "It never allows an eviction: default/web."},
			{ID: "StoragePluginUnknown", Severity: "Warning", Message: "Unknown: example."},
		},
	}
}

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
