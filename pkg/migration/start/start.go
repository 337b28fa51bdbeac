package start

import (
	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/components"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// AwaitsTurn says that it is asked whether a Cluster may start: its migration is wanted and has not started.
func AwaitsTurn(cluster *ucv1.Cluster) bool {
	origin := cluster.Status.Origin
	return cluster.ExternalCloudProvider() && cluster.DeletionTimestamp.IsZero() && cluster.Status.StartedAt == nil &&
		(origin == ucv1.OriginInTree || origin == ucv1.OriginMigrating) &&
		cluster.Status.Rollback == nil && !cluster.Spec.Handover.Rollback
}

// Admitted is judged until the start. What is not known holds a Cluster back.
func Admitted(in pass.Input) outcome.Outcome {
	turn, waits := in.Turn.Get()
	switch {
	case in.Facts.StartedAt != nil:
		return outcome.Holds(ucv1.HoldsReason, "The migration has started.")
	case in.Turn.IsAbsent():
		return outcome.Holds(ucv1.HoldsReason, "Nothing holds the cluster back from starting.")
	case !waits:
		return outcome.CannotLook("whether the cluster may start", in.Turn.Why())
	case turn.After > 0:
		return outcome.WaitsUntil(turn.Reason, turn.Message, turn.After)
	}
	return outcome.Waits(turn.Reason, turn.Message)
}

// Preflight is judged once: a Node made NotReady by the roll itself must not freeze the roll.
func Preflight(in pass.Input) outcome.Outcome {
	if in.Facts.StartedAt != nil {
		return outcome.Holds(ucv1.HoldsReason, "There was no blocking finding when the migration started."+idleManagers(in))
	}
	judged := JudgePreflight(in)
	if !judged.Holds {
		return judged
	}
	out := start(in)
	out.Findings = judged.Findings
	return out
}

func start(in pass.Input) outcome.Outcome {
	if out := Approved(in); !out.Holds {
		return out
	}
	kcm := in.ControlPlane.Value().KCM
	why := "Starting the migration: recording what the CCM inherits from " + kcm.String() + "." + idleManagers(in)
	return in.Records(why, func(facts *ucv1.Facts) {
		facts.StartedAt = in.Stamp()
		facts.Inherited = Inherit(in.Cluster, kcm.Arguments)
		facts.Handover = NewHandover(in)
	})
}

// Inherit reads what the CCM takes over while KCM's flags still say it.
func Inherit(cluster *ucv1.Cluster, arguments observation.Arguments) *ucv1.InheritedConfiguration {
	cidr, _ := arguments.Flag("cluster-cidr")
	inherited := &ucv1.InheritedConfiguration{
		ClusterName:       components.CCMClusterName(cluster, arguments),
		ClusterCIDR:       cidr,
		ClusterUID:        string(cluster.UID),
		AllocateNodeCIDRs: arguments.True("allocate-node-cidrs", false),
		Loops:             arguments.CloudLoops(),
	}
	if len(inherited.Loops) == 0 {
		// No in-tree loops: what the cluster was made with decides, and routes only when they were asked for by name.
		inherited.Loops = []string{observation.CloudNodeLifecycleLoop, observation.ServiceLoop}
		if inherited.AllocateNodeCIDRs && arguments.True("configure-cloud-routes", false) {
			inherited.Loops = []string{observation.CloudNodeLifecycleLoop, observation.RouteLoop, observation.ServiceLoop}
		}
	}
	for _, loop := range inherited.Loops {
		if loop == observation.RouteLoop {
			inherited.ConfigureCloudRoutes = true
		}
	}
	return inherited
}
