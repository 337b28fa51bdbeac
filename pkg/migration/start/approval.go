package start

import (
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const (
	// planInterval is how often a plan that waits for its approval is made again without anybody asking for it.
	planInterval = 10 * time.Minute
	// planKept is for how long the passes in between are content with the last one: a plan of many MachineDeployments costs
	// seconds of CPU, and dry runs of all that would be applied.
	planKept = time.Minute
	// planStarts is for how long a migration may start with a plan: what only dry runs tell may have changed since.
	planStarts = 30 * time.Second
)

// PlanLasts says that a plan need not be made again although what it rests on is still so.
func PlanLasts(f observation.ForeseenPlan, cluster *ucv1.Cluster, now time.Time) bool {
	lasts := planKept
	if f.Digest == cluster.Spec.Approval.PlanDigest {
		lasts = planStarts
	}
	return now.Sub(f.MadeAt) < lasts
}

// WantsPlan says that a plan is made: a person wants to approve it, and nothing of it was begun.
func WantsPlan(cluster *ucv1.Cluster) bool {
	asked := cluster.Spec.Mode == ucv1.PlanOnlyMode || cluster.Spec.Approval.PlanDigest != ""
	return asked && cluster.Status.Handover == nil && cluster.ExternalCloudProvider() && cluster.DeletionTimestamp.IsZero()
}

// Approved is asked last before the start, when nothing else stands against it. What was approved is compared with a plan that
// was just made of what this pass sees: a plan that changed since is another one.
func Approved(in pass.Input) outcome.Outcome {
	if !WantsPlan(in.Cluster) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	plan, known := in.Plan.Get()
	approved := in.Cluster.Spec.Approval.PlanDigest
	read := "Read it with 'ccm-migration-controller plan " + in.Cluster.Namespace + "/" + in.Cluster.Name + "'"
	switch {
	case !known:
		return outcome.CannotLook("what the migration would do", in.Plan.Why())
	case approved == plan.Digest:
		return outcome.Holds(ucv1.HoldsReason, "")
	case approved != "":
		return outcome.Fails(ucv1.PlanNotApprovedReason, "The plan is not the one that was approved; nothing was begun. Its digest "+
			"is "+plan.Digest+
			", and spec.approval.planDigest is "+approved+". "+read+", and approve what it is now.")
	}
	next := planInterval
	if age := in.Now.Sub(plan.MadeAt); age > 0 && age < planKept {
		next = planKept - age
	}
	return outcome.WaitsUntil(ucv1.WaitingForApprovalReason, "spec.mode is PlanOnly, and the plan waits for its approval. "+read+
		", and set spec.approval.planDigest to "+plan.Digest+" to start it.", next)
}

// InheritedFrom is what a CCM would take over from a KCM with these arguments if the migration started now.
func InheritedFrom(cluster *ucv1.Cluster, kcm observation.Arguments) *ucv1.InheritedConfiguration {
	return Inherit(cluster, kcm)
}

// Facts are the facts of a cluster as they would be if the migration started now.
func Facts(cluster *ucv1.Cluster) ucv1.Facts {
	facts := *cluster.Status.Facts.DeepCopy()
	if facts.Origin == "" || facts.Origin == ucv1.OriginInTree {
		facts.Origin = ucv1.OriginMigrating
	}
	return facts
}

// Findings are all findings of preflight if the migration started now, with what no one could look at.
func Findings(o observation.Observation, now time.Time) []observation.Finding {
	in := pass.New(o, now, Facts(o.Cluster))
	_, unknown := inputFindings(in)
	findings := JudgePreflight(in).Findings
	if _, why := preflightFindings(in); why != "" {
		unknown = append(unknown, why)
	}
	for _, what := range unknown {
		finding := observation.NotLookedAt(what)
		finding.Severity = observation.Blocking
		findings = append(findings, finding)
	}
	observation.SortFindings(findings)
	return findings
}
