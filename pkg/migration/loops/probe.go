package loops

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/applied"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// WantsProbe says that the probe's objects are to be there.
func WantsProbe(cluster *ucv1.Cluster) bool {
	handover := cluster.Status.Handover
	return cluster.DeletionTimestamp.IsZero() && handover != nil && handover.ProbeStartedAt != nil && cluster.Status.Rollback == nil
}

// probed lets the CCM lead once before KCM is touched, because cloud.Initialize and much of a provider's set-up run only
// after the election (https://github.com/kubernetes/cloud-provider/blob/v0.30.14/app/controllermanager.go).
func probed(in pass.Input) outcome.Outcome {
	handover := in.Facts.Handover
	nodes, known := in.Nodes.Get()
	switch {
	case handover.ProbedAt != nil, handover.StartedAt != nil, in.Facts.Origin == ucv1.OriginExternal:
		return probeGone(in)
	case in.Provider.Value().ProbeHazard != "":
		return probeGone(in)
	case !known:
		return outcome.CannotLook("the Nodes", in.Nodes.Why())
	case len(nodes) == 0:
		return probeGone(in)
	case handover.ProbeFailedAt != nil:
		return probeFailed(in)
	case handover.ProbeStartedAt == nil:
		return in.Records("Recording that the probe of the CCM starts.", func(facts *ucv1.Facts) {
			facts.Handover.ProbeStartedAt = in.Stamp()
		})
	}
	return probeLeads(in)
}

// probeGone holds when nothing of the probe is left.
func probeGone(in pass.Input) outcome.Outcome {
	probe, known := in.Probe.Get()
	switch {
	case in.Facts.Handover.StartedAt != nil:
		// While no one runs the cloud loops, nothing but the hand-over is done.
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		return outcome.CannotLook("the probe", in.Probe.Why())
	case len(probe.Left) > 0:
		return outcome.Does(applied.Prune(probe.Left))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// probeLeads: the same process has to hold its Lease and to renew it for a while.
func probeLeads(in pass.Input) outcome.Outcome {
	probe, known := in.Probe.Get()
	if !known {
		return outcome.CannotLook("the probe", in.Probe.Why())
	}
	if out := applied.Set(in, outcome.ProbeSet, probe.Set); !out.Holds {
		return out
	}
	handover, lease := in.Facts.Handover, probe.Lease
	switch {
	case lease.Holder != "" && lease.Renewed(in.Now) && handover.ProbeHolder != lease.Holder:
		return in.Records("Recording that the probe of the CCM leads.", func(facts *ucv1.Facts) {
			facts.Handover.ProbeHolder, facts.Handover.ProbeLedAt = lease.Holder, in.Stamp()
		})
	case handover.ProbeLedAt != nil && lease.Holder == handover.ProbeHolder &&
		lease.ChangedAt.Sub(handover.ProbeLedAt.Time) >= in.Deadlines.ProbeTime:
		return in.Records("Recording that the probe of the CCM led and stayed up.", func(facts *ucv1.Facts) {
			facts.Handover.ProbedAt = in.Stamp()
			endProbe(facts)
		})
	case in.Now.Sub(handover.ProbeStartedAt.Time) > in.Deadlines.Probe:
		return failProbe(in, probe)
	}
	return outcome.WaitsUntil(
		ucv1.ProbingReason,
		observation.Say("The probe of the CCM has to lead and stay up for ", in.Deadlines.ProbeTime, " before KCM is touched.").
			Also(observation.Join(probe.Set.Unhealthy, "; ")),
		2*time.Second,
	)
}

// failProbe has the probe removed, and keeps what was seen of it.
func failProbe(in pass.Input, probe observation.Probe) outcome.Outcome {
	problem := "its Lease has no holder that stays"
	if in.Facts.Handover.ProbeLedAt == nil {
		problem = "it never led"
	}
	seen := observation.Say(problem + ".").Also(observation.Join(probe.Set.Unhealthy, "; "))
	return in.Records("Recording that the probe of the CCM failed: "+problem+".", func(facts *ucv1.Facts) {
		facts.Handover.ProbeProblem, facts.Handover.ProbeObjects = seen.Words, observation.NamesOf(seen.Objects)
		facts.Handover.ProbeFailedAt = in.Stamp()
		endProbe(facts)
	})
}

func endProbe(facts *ucv1.Facts) {
	facts.Handover.ProbeStartedAt, facts.Handover.ProbeLedAt, facts.Handover.ProbeHolder = nil, nil, ""
}

func probeFailed(in pass.Input) outcome.Outcome {
	if out := probeGone(in); !out.Holds {
		return out
	}
	if in.Now.Sub(in.Facts.Handover.ProbeFailedAt.Time) >= in.Deadlines.ProbeRetry {
		return in.Records("Recording that the probe of the CCM is tried again.", func(facts *ucv1.Facts) {
			facts.Handover.ProbeFailedAt, facts.Handover.ProbeProblem, facts.Handover.ProbeObjects = nil, "", nil
		})
	}
	problem := observation.Say(in.Facts.Handover.ProbeProblem).About(observation.RefsOf(in.Facts.Handover.ProbeObjects)...)
	return outcome.Fails(ucv1.ProbeFailedReason, "The probe of the CCM failed, and KCM was not touched: ", problem, " Look at the "+
		"cloud configuration and at its credentials; the probe is tried again when they change, and every ",
		in.Deadlines.ProbeRetry, ".")
}
