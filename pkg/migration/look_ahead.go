package migration

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/pass"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration/start"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// When a cluster whose feature is off is looked at.
const (
	// lookSpread is the time over which the first looks of a fleet are spread, lookEvery the longest between two of one cluster,
	// and lookJitter what the next one may be earlier, so that a fleet never comes to look all at once.
	lookSpread = 6 * time.Hour
	lookEvery  = 24 * time.Hour
	lookJitter = time.Hour
	// lookHourly is the time between two of a Cluster whose turn comes soon.
	lookHourly = time.Hour
	// lookRetry is the least time after a look that could not see what it rests on, and lookRarest the longest: a cluster that has
	// been away for days is asked rarely, and a fleet of them costs little.
	lookRetry  = time.Hour
	lookRarest = 12 * time.Hour
	// lookAfterChange is the least time between two looks when the spec is changed: a person wants to know, a tool may not ask for
	// ever.
	lookAfterChange = 10 * time.Minute
	// lookTurn is when one that is due asks again for its turn: thousands may wait. lookGoesOn is when one that watches a Lease
	// looks at it again.
	lookTurn     = 5 * time.Minute
	lookTurnSoon = 20 * time.Second // of one whose turn to start comes soon
	lookGoesOn   = 5 * time.Second
)

// Readiness is condition ReadyToMigrate.
type Readiness struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
	// Undecided says that nothing was looked at in this pass: what was said before stands.
	Undecided bool
}

// looksAhead says that a cluster whose feature is off is to be looked at now.
func looksAhead(cluster *ucv1.Cluster, now time.Time) bool {
	look := cluster.Status.LookAhead
	return wantsLooks(cluster) && look != nil && look.NextAt != nil && !now.Before(nextLook(look, cluster.Generation))
}

// LooksNow says that a Cluster whose turn comes soon is to be looked at now, although its daily look is not due.
func LooksNow(o observation.Observation, now time.Time) bool {
	look := o.Cluster.Status.LookAhead
	return o.HourlyLooks && wantsLooks(o.Cluster) && look != nil && look.NextAt != nil &&
		!now.Before(hourlyLook(o, look, now))
}

// hourlyLook is an hour after the last one. One that did not reach the user cluster is not made again sooner than any other,
// unless its control plane slept, and is awake.
func hourlyLook(o observation.Observation, look *ucv1.LookAheadStatus, now time.Time) time.Time {
	next := nextLook(look, o.Cluster.Generation)
	switch {
	case look.TriedAt == nil:
		return now
	case look.Leader == ucv1.LeaderHibernated && o.InTree.Value().Replicas > 0:
		return sooner(next, look.TriedAt.Add(lookAfterChange))
	case look.LookedAt == nil || look.LookedAt.Before(look.TriedAt):
		return next
	}
	return sooner(next, look.LookedAt.Add(lookHourly))
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// wantsLooks: one that has not started, whether its feature is off or it waits for its turn. One that was migrated never has the
// feature off again, whatever its spec came to say.
func wantsLooks(cluster *ucv1.Cluster) bool {
	origin := cluster.Status.Origin
	inTree := !cluster.ExternalCloudProvider() && cluster.DeletionTimestamp.IsZero() &&
		origin != ucv1.OriginMigrating &&
		origin != ucv1.OriginExternal
	return (inTree || start.AwaitsTurn(cluster)) && cluster.Spec.Preflight.LookAhead != ucv1.NeverLookAhead
}

// nextLook is sooner when the spec was changed since the last one.
func nextLook(look *ucv1.LookAheadStatus, generation int64) time.Time {
	next := look.NextAt.Time
	if look.LookedAt != nil && look.Generation != generation {
		if soon := look.LookedAt.Add(lookAfterChange); soon.Before(next) {
			return soon
		}
	}
	return next
}

// share of a span that is a cluster's own: the same for the same UID and moment, and spread evenly over a fleet.
func share(span time.Duration, uid string, at time.Time) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(uid + "/" + strconv.FormatInt(at.Unix(), 10)))
	return time.Duration(hash.Sum64()%uint64(span/time.Second)) * time.Second
}

// lookAhead says when the next look is due, and what the one of this pass found.
func lookAhead(in pass.Input, decision Decision) Decision {
	decision.Facts = &in.Facts
	if !wantsLooks(in.Cluster) || start.AwaitsTurn(in.Cluster) && in.Turn.IsAbsent() {
		in.Facts.LookAhead = nil
		if !in.Cluster.ExternalCloudProvider() {
			in.Facts.UnattendedSince = nil // Nothing will tell when it is over.
		}
		return decision
	}
	look := ucv1.LookAheadStatus{NextAt: in.StampAfter(share(lookSpread, string(in.Cluster.UID), in.Now))}
	if before := in.Facts.LookAhead; before != nil && before.NextAt != nil {
		look = *before
	}
	if in.Look == observation.LookDone {
		asked := in
		asked.Facts.Origin = ucv1.OriginMigrating
		decision.Readiness, decision.Findings = judgeLook(asked)
		look = looked(in, look, decision.Readiness)
		if !saysMore(decision) {
			look.LeaderAt, look.Leader = in.Stamp(), leader(asked)
			in.Facts.UnattendedSince = unattendedInTree(in, look.Leader)
		}
	} else {
		decision.Readiness = &Readiness{
			Undecided: true, Status: metav1.ConditionUnknown, Reason: ucv1.NotLookedYetReason, Message: "The user cluster is looked at " +
				"for the first time at " +
				look.NextAt.UTC().Format(time.RFC3339) + ", or when the limit for the whole fleet allows it.",
		}
	}
	decision.Attendance = attendInTree(in, look, decision)
	look.NextAt = soonerLook(in, look, decision.Attendance)
	in.Facts.LookAhead = &look
	decision.LookAfter = passForLook(in, look)
	return decision
}

// saysMore than a look what KCM does: its arguments do, or could not be read.
func saysMore(decision Decision) bool {
	return decision.Failure != nil || decision.Wait != nil && !decision.Queued
}

// passForLook is how long until the pass that makes the next look, or goes on with this one.
func passForLook(in pass.Input, look ucv1.LookAheadStatus) time.Duration {
	next := nextLook(&look, in.Cluster.Generation)
	if in.HourlyLooks {
		next = hourlyLook(*in.Observation, &look, in.Now)
	}
	switch until := next.Sub(in.Now); {
	case until > 0:
		return until
	case in.Look == observation.LookGoesOn:
		return lookGoesOn
	case in.HourlyLooks:
		return lookTurnSoon
	}
	return lookTurn + share(lookTurn, string(in.Cluster.UID), in.Now)
}

// looked notes a look, and when the next one is due.
func looked(in pass.Input, look ucv1.LookAheadStatus, readiness *Readiness) ucv1.LookAheadStatus {
	jitter := share(lookJitter, string(in.Cluster.UID), in.Now)
	look.Generation, look.TriedAt = in.Cluster.Generation, in.Stamp()
	if in.Connection.Reachable {
		look.LookedAt = in.Stamp()
	}
	look.NextAt = in.StampAfter(lookEvery - jitter)
	if in.HourlyLooks {
		look.NextAt = in.StampAfter(lookHourly)
	}
	if readiness.Reason == ucv1.CouldNotLookReason || in.HourlyLooks && !in.Connection.Reachable {
		look.NextAt = in.StampAfter(retryLook(in, look) + jitter)
	}
	return look
}

// retryLook is the time for which nothing was seen, within its bounds: each try is twice as late as the one before.
func retryLook(in pass.Input, look ucv1.LookAheadStatus) time.Duration {
	since := in.Cluster.CreationTimestamp.Time
	if look.LookedAt != nil {
		since = look.LookedAt.Time
	}
	return min(max(in.Now.Sub(since), lookRetry), lookRarest)
}

// judgeLook asks what preflight would ask if the feature were on. What was found before stays when the user cluster cannot be
// reached.
func judgeLook(asked pass.Input) (*Readiness, []observation.Finding) {
	out := start.JudgePreflight(asked)
	findings := out.Findings
	if asked.Connection.Reachable {
		findings = append([]observation.Finding{}, findings...)
	}
	return readinessOf(asked, out), findings
}

func readinessOf(asked pass.Input, out outcome.Outcome) *Readiness {
	counts := countFindings(out.Findings)
	switch kcm := kcmAttends(asked); {
	case hibernated(asked):
		return &Readiness{Status: metav1.ConditionUnknown, Reason: ucv1.HibernatedReason, Message: "The control plane is scaled to 0."}
	case kcmRunsLoops(asked) && kcm.state == runsNone:
		return &Readiness{Status: metav1.ConditionFalse, Reason: ucv1.CloudLoopsUnattendedReason,
			Message: "No manager runs the cloud loops: " + kcm.why.Words + ". " + counts.text()}
	case out.Failure != nil:
		return &Readiness{Status: metav1.ConditionFalse, Reason: ucv1.FindingsReason, Message: counts.text()}
	case out.Wait != nil:
		return &Readiness{Status: metav1.ConditionUnknown, Reason: ucv1.CouldNotLookReason,
			Message: strings.TrimSuffix(out.Wait.Message, ".") + ". status.lookAhead.nextAt says when it is tried again."}
	}
	return &Readiness{Status: metav1.ConditionTrue, Reason: ucv1.NothingBlocksReason, Message: counts.text()}
}

// kcmRunsLoops says that its arguments do, so that someone has to lead with them.
func kcmRunsLoops(in pass.Input) bool {
	kcm := in.ControlPlane.Value().KCM
	return in.ControlPlane.IsKnown() && kcm.Arguments.Understood() && len(kcm.Arguments.CloudLoops()) > 0
}

// AwaitsLeader says that the holder of KCM's Lease is no pod which we see, or one that seems to have left off, and that the Lease
// was not watched for long enough to tell whether it is renewed.
func AwaitsLeader(o observation.Observation, now time.Time) bool {
	lease, known := o.KCMLease.Get()
	kcm, seen := o.ControlPlane.Get()
	if !known || !seen || lease.Holder == "" || lease.Stale(now) || lease.Alive(now) {
		return false
	}
	return !lease.Fresh(now) || !slices.ContainsFunc(kcm.KCM.Pods, func(process observation.Process) bool {
		return handover.HeldBy(lease, process.PodName, process.NodeName, process.Hostname)
	})
}

// findingCounts are what a fleet is sorted by.
type findingCounts struct {
	blocking, warnings, unseen int
	ids                        []string
}

func countFindings(findings []observation.Finding) (counts findingCounts) {
	for _, finding := range findings {
		switch {
		case finding.NotLookedAt && !finding.BeforeRoll:
			counts.unseen++
		case finding.Accepted, finding.NotLookedAt, finding.Severity == observation.Info:
		case finding.Severity == observation.Blocking:
			counts.blocking++
			counts.ids = append(counts.ids, finding.ID)
		default:
			counts.warnings++
		}
	}
	counts.ids = slices.Compact(counts.ids)
	return counts
}

// text names the blocking ones. It has no time and no number that ticks.
func (c findingCounts) text() string {
	text := "Nothing that was found blocks a migration"
	if c.blocking > 0 {
		text = wording.Count(c.blocking, "finding blocks", "findings block") + " a migration: " + wording.Names(c.ids)
	}
	var more []string
	if c.warnings > 0 {
		more = append(more, wording.Count(c.warnings, "warning", "warnings"))
	}
	if c.unseen > 0 {
		more = append(more, wording.Count(c.unseen, "check that could not look", "checks that could not look"))
	}
	if len(more) > 0 {
		text += "; also " + strings.Join(more, " and ")
	}
	return text + ". status.preflight has the worst, status.lookAhead says when it was looked at."
}
