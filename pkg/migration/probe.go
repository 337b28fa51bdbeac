package migration

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// wantsProbe says that the probe's objects are to be there.
func wantsProbe(cluster *ucv1.Cluster) bool {
	handover := cluster.Status.Handover
	return cluster.DeletionTimestamp.IsZero() && handover != nil && handover.ProbeStartedAt != nil && cluster.Status.Rollback == nil
}

// probed lets the CCM lead once before KCM is touched, because cloud.Initialize and much of a provider's set-up run only
// after the election (https://github.com/kubernetes/cloud-provider/blob/v0.30.14/app/controllermanager.go).
func (p *pass) probed() outcome.Outcome {
	handover := p.facts.Handover
	nodes, known := p.o.Nodes.Get()
	switch {
	case handover.ProbedAt != nil, handover.StartedAt != nil, p.facts.Origin == ucv1.OriginExternal:
		return p.probeGone()
	case p.o.Provider.Value().ProbeHazard != "":
		return p.probeGone()
	case !known:
		return outcome.CannotLook("the Nodes", p.o.Nodes.Why())
	case len(nodes) == 0:
		return p.probeGone()
	case handover.ProbeFailedAt != nil:
		return p.probeFailed()
	case handover.ProbeStartedAt == nil:
		handover.ProbeStartedAt = p.stamp()
		return outcome.Records("Recording that the probe of the CCM starts.")
	}
	return p.probeLeads()
}

// probeGone holds when nothing of the probe is left.
func (p *pass) probeGone() outcome.Outcome {
	probe, known := p.o.Probe.Get()
	switch {
	case p.facts.Handover.StartedAt != nil:
		// While no one runs the cloud loops, nothing but the hand-over is done.
		return outcome.Holds(ucv1.HoldsReason, "")
	case !known:
		return outcome.CannotLook("the probe", p.o.Probe.Why())
	case len(probe.Left) > 0:
		return outcome.Does(pruneVerb(probe.Left))
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// probeLeads: the same process has to hold its Lease and to renew it for a while.
func (p *pass) probeLeads() outcome.Outcome {
	probe, known := p.o.Probe.Get()
	if !known {
		return outcome.CannotLook("the probe", p.o.Probe.Why())
	}
	if out := p.applied(outcome.ProbeSet, probe.Set); !out.Holds {
		return out
	}
	handover, lease := p.facts.Handover, probe.Lease
	switch {
	case lease.Holder != "" && lease.Renewed(p.now) && handover.ProbeHolder != lease.Holder:
		handover.ProbeHolder, handover.ProbeLedAt = lease.Holder, p.stamp()
		return outcome.Records("Recording that the probe of the CCM leads.")
	case handover.ProbeLedAt != nil && lease.Holder == handover.ProbeHolder &&
		lease.ChangedAt.Sub(handover.ProbeLedAt.Time) >= p.o.Deadlines.ProbeTime:
		handover.ProbedAt = p.stamp()
		handover.ProbeStartedAt, handover.ProbeLedAt, handover.ProbeHolder = nil, nil, ""
		return outcome.Records("Recording that the probe of the CCM led and stayed up.")
	case p.now.Sub(handover.ProbeStartedAt.Time) > p.o.Deadlines.Probe:
		return p.failProbe(probe)
	}
	return outcome.WaitsUntil(
		ucv1.ProbingReason,
		observation.Say("The probe of the CCM has to lead and stay up for ", p.o.Deadlines.ProbeTime, " before KCM is touched.",
			sentences(probe.Set.Unhealthy)),
		2*time.Second,
	)
}

// failProbe has the probe removed, and keeps what was seen of it.
func (p *pass) failProbe(probe observation.Probe) outcome.Outcome {
	handover := p.facts.Handover
	problem := "its Lease has no holder that stays"
	if handover.ProbeLedAt == nil {
		problem = "it never led"
	}
	seen := sentences(probe.Set.Unhealthy)
	handover.ProbeProblem, handover.ProbeObjects = problem+"."+seen.Words, observation.NamesOf(seen.Objects)
	handover.ProbeFailedAt = p.stamp()
	handover.ProbeStartedAt, handover.ProbeLedAt, handover.ProbeHolder = nil, nil, ""
	return outcome.Records("Recording that the probe of the CCM failed: " + problem + ".")
}

func (p *pass) probeFailed() outcome.Outcome {
	if out := p.probeGone(); !out.Holds {
		return out
	}
	if p.now.Sub(p.facts.Handover.ProbeFailedAt.Time) >= p.o.Deadlines.ProbeRetry {
		p.facts.Handover.ProbeFailedAt, p.facts.Handover.ProbeProblem, p.facts.Handover.ProbeObjects = nil, "", nil
		return outcome.Records("Recording that the probe of the CCM is tried again.")
	}
	problem := observation.Say(p.facts.Handover.ProbeProblem).About(observation.RefsOf(p.facts.Handover.ProbeObjects)...)
	return outcome.Fails(ucv1.ProbeFailedReason, "The CCM would not work with this configuration, and KCM was not touched. Its "+
		"probe failed: ", problem, " Look at the cloud configuration and at its credentials; the probe is tried again when they "+
		"change, and every "+
		p.o.Deadlines.ProbeRetry.String()+".")
}

// forgetProbe: what was proven, or failed, was another CCM.
func (p *pass) forgetProbe() {
	if handover := p.facts.Handover; handover.StartedAt == nil {
		handover.ProbedAt, handover.ProbeFailedAt, handover.ProbeProblem, handover.ProbeObjects = nil, nil, "", nil
	}
}

func sentences(list []observation.Text) observation.Text {
	if len(list) == 0 {
		return observation.Text{}
	}
	return observation.Say(" ", observation.Join(list, ". "), ".")
}
