package preflight

import (
	"cmp"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// check is one question.
type check struct {
	id string
	// severity of what it finds where that says nothing else, and what it counts as when no one could look.
	severity observation.Severity
	// means says in a sentence what it finds; the documentation is generated from it.
	means string
	// beforeRoll says that it needs the cloud.
	beforeRoll bool
	// unseen says what could not be looked at and why; empty: it could.
	unseen func(Facts) string
	find   func(Facts, time.Time) []observation.Finding
}

// Description of a check, for the documentation.
type Description struct {
	ID, Means  string
	Severity   observation.Severity
	BeforeRoll bool
}

// checks are all of them, by family.
func checks() []check {
	return slices.Concat(
		nodeChecks(),
		nodeNameChecks(),
		volumeChecks(),
		storageChecks(),
		serviceChecks(),
		machineChecks(),
		disruptionChecks(),
		controlPlaneChecks(),
		flagChecks(),
		networkChecks(),
		imageChecks(),
		accessChecks(),
		versionChecks(),
		timeChecks(),
		cloudChecks(),
		fieldChecks(),
		settingChecks(),
	)
}

// Describe lists the checks by ID.
func Describe() []Description {
	var list []Description
	for _, c := range checks() {
		list = append(list, Description{ID: c.id, Means: c.means, Severity: c.severity, BeforeRoll: c.beforeRoll})
	}
	slices.SortFunc(list, func(a, b Description) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// IDs of all findings, sorted: those of the checks, and those about what the Cluster refers to.
func IDs() []string {
	ids := start.InputFindingIDs()
	for _, c := range checks() {
		ids = append(ids, c.id)
	}
	slices.Sort(ids)
	return ids
}

// Judge asks every check. It is total and deterministic.
func Judge(o Facts, now time.Time) []observation.Finding {
	findings := []observation.Finding{}
	for _, c := range checks() {
		findings = append(findings, c.ask(o, now)...)
	}
	observation.SortFindings(findings)
	return findings
}

// JudgeCloud asks those that need the cloud.
func JudgeCloud(o Facts, now time.Time) []observation.Finding {
	findings := []observation.Finding{}
	for _, c := range checks() {
		if c.beforeRoll {
			findings = append(findings, c.ask(o, now)...)
		}
	}
	observation.SortFindings(findings)
	return findings
}

// JudgeCredentials asks whether our credentials run out, which is watched on after the start.
func JudgeCredentials(o Facts, now time.Time) []observation.Finding {
	var findings []observation.Finding
	for _, c := range accessChecks() {
		if c.id == CredentialsExpire {
			findings = c.ask(o, now)
		}
	}
	return findings
}

func (c check) ask(o Facts, now time.Time) []observation.Finding {
	if why := c.unseen(o); why != "" {
		finding := observation.NotLookedAt(why)
		finding.ID, finding.Reason, finding.Severity, finding.BeforeRoll = c.id, ucv1.PreflightFailedReason, c.severity, c.beforeRoll
		return []observation.Finding{finding}
	}
	var findings []observation.Finding
	for _, finding := range c.find(o, now) {
		finding.ID, finding.Reason, finding.BeforeRoll = c.id, ucv1.PreflightFailedReason, c.beforeRoll
		finding.Severity = cmp.Or(finding.Severity, c.severity)
		findings = append(findings, finding)
	}
	return findings
}

// unseen says that a fact could not be looked at; empty when it is known or absent.
func unseen[T any](what string, fact observation.Observed[T]) string {
	if fact.IsUnknown() {
		return what + ": " + fact.Why()
	}
	return ""
}

// about is one finding about all of the objects, or none when there are none.
func about[T any](objects []T, message any, action string) []observation.Finding {
	if len(objects) == 0 {
		return nil
	}
	said, texts := observation.Say(message), observation.SortTexts(observation.Texts(objects))
	return []observation.Finding{{
		Message: said.Words, Objects: observation.Words(texts), Named: observation.Say(said, observation.Join(texts, "")).Objects,
		Action: action,
	}}
}

// severe gives findings another severity than that of their check.
func severe(severity observation.Severity, findings []observation.Finding) []observation.Finding {
	for i := range findings {
		findings[i].Severity = severity
	}
	return findings
}

// chosen are the names of those items that a rule is about.
func chosen[T, N any](items []T, name func(T) N, is func(T) bool) []N {
	var names []N
	for _, item := range items {
		if is(item) {
			names = append(names, name(item))
		}
	}
	return names
}

// minor of the cluster's version.
func (o Facts) minor() int { return observation.MinorOf(o.Cluster.Spec.Version) }

// runsRoutes says that the route loop is among those that are handed over.
func (o Facts) runsRoutes() bool {
	return slices.Contains(o.ControlPlane.Value().KCM.Arguments.CloudLoops(), observation.RouteLoop)
}

func unseenNodes(o Facts) string        { return unseen("the Nodes", o.Nodes) }
func unseenDetails(o Facts) string      { return unseen("the Nodes", o.NodeDetails) }
func unseenControlPlane(o Facts) string { return unseen("the control plane", o.ControlPlane) }
func unseenMachines(o Facts) string     { return unseen("the Machines", o.Machines) }
func unseenPools(o Facts) string        { return unseen("the MachineDeployments", o.Pools) }
func unseenPods(o Facts) string         { return unseen("the Pods", o.Pods) }
func unseenServices(o Facts) string     { return unseen("the Services", o.Services) }
func unseenVolumes(o Facts) string      { return unseen("the PersistentVolumes", o.Volumes) }
