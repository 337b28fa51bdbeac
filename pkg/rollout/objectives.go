package rollout

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/slo"
	"github.com/ccm-migration/ccm-migration-controller/pkg/wording"
)

// defaultMinimumSamples is how many samples an indicator needs to be Met; mostSlow bounds the objects that are named.
const (
	defaultMinimumSamples = 20
	mostSlow              = 5
)

// Measures says whether Nodes and load balancers are watched for the service level objectives: from when the CCM has the loops
// until the soak time after completion.
func Measures(cluster *ucv1.Cluster, now time.Time) bool {
	facts := cluster.Status.Facts
	if facts.Origin != ucv1.OriginMigrating || facts.Rollback != nil || facts.Handover == nil || facts.Handover.FinishedAt == nil {
		return false
	}
	until := measuredUntil(facts, cluster)
	return until == nil || now.Before(until.Time)
}

// measuredUntil is the end of the soak time after completion; nil before that.
func measuredUntil(facts ucv1.Facts, cluster *ucv1.Cluster) *metav1.Time {
	if facts.CompletedAt == nil {
		return nil
	}
	return new(metav1.NewTime(facts.CompletedAt.Add(observation.SoakTime(cluster))))
}

// Measured adds what was measured since the last pass to the persisted counts, and returns the facts with them; nil: they are as
// they were.
func Measured(in In) *ucv1.Facts { return countSamples(inputOf(in)) }

// countSamples adds what was measured since the last pass to the persisted counts. Whoever remembers the samples may lose them in
// a restart; a sample that it shows twice is counted once, by its end.
func countSamples(in input) *ucv1.Facts {
	configured := in.facts.MachineControllerConfiguredAt
	if configured == nil || in.back() || !Measures(in.o.Cluster, in.now) {
		return nil
	}
	status := sloStatus(in, *configured)
	if seen, known := in.o.Measured.Get(); known {
		for _, sample := range seen.Samples {
			if counts(sample, status, configured.Time) {
				count(status, sample)
			}
		}
		judgeObjectives(in, status, seen)
	}
	counted := in.changed(func(facts *ucv1.Facts) { facts.SLO = status })
	if violates(in.from(counted)) {
		counted.SLO.ViolatedAt = in.stamp()
	}
	return counted
}

// sloStatus is what was counted, or a new beginning where a person asked for it.
func sloStatus(in input, configured metav1.Time) *ucv1.SLOStatus {
	status := in.facts.SLO.DeepCopy()
	if status == nil || status.Since == nil {
		status = &ucv1.SLOStatus{Since: &configured}
	}
	if since := in.o.Cluster.Spec.SLO.CountSince; since != nil && status.Since.Before(since) {
		status = &ucv1.SLOStatus{Since: since.DeepCopy(), CountedUntil: status.CountedUntil}
	}
	status.Until = measuredUntil(in.facts, in.o.Cluster)
	return status
}

// counts says whether a sample is to be counted. A Node that was never seen with its taint may have a kubelet of the in-tree
// provider, which no CCM initializes, when it was made before the flags were in place.
func counts(sample slo.Sample, status *ucv1.SLOStatus, configured time.Time) bool {
	switch {
	case status.CountedUntil != nil && !sample.End.After(status.CountedUntil.Time), !sample.End.After(status.Since.Time):
		return false
	case status.Until != nil && sample.End.After(status.Until.Time):
		return false
	}
	ofNode := sample.Indicator == slo.TaintRemoval || sample.Indicator == slo.InitialSync
	return !ofNode || sample.Tainted || sample.MadeAt.After(configured)
}

// count adds one sample. countedUntil moves when all are counted: those of one look share their end.
func count(status *ucv1.SLOStatus, sample slo.Sample) {
	at := slices.IndexFunc(status.Indicators, func(i ucv1.SLOIndicator) bool { return i.Name == string(sample.Indicator) })
	if at < 0 {
		status.Indicators = append(status.Indicators, ucv1.SLOIndicator{Name: string(sample.Indicator)})
		at = len(status.Indicators) - 1
	}
	indicator, class := &status.Indicators[at], sample.Class(status.Since.Time)
	indicator.Within += int32(class.Within)
	indicator.Missed += int32(class.Missed)
	indicator.Unsure += int32(class.Unsure)
	if class.Missed == 0 {
		return
	}
	indicator.LastMissedAt = new(metav1.NewTime(sample.End.Truncate(time.Second)))
	slow := sample.Object
	if sample.Least > 0 {
		slow += ", at least " + sample.Least.Truncate(time.Second).String()
	}
	indicator.Slow = append(indicator.Slow, slow)
	if more := len(indicator.Slow) - mostSlow; more > 0 {
		indicator.Slow = slices.Delete(indicator.Slow, 0, more)
	}
	if sample.Kind == "" {
		return
	}
	indicator.SlowObjects = append(
		indicator.SlowObjects,
		ucv1.ObjectName{Kind: sample.Kind, Namespace: sample.Namespace, Name: sample.Name},
	)
	if more := len(indicator.SlowObjects) - mostSlow; more > 0 {
		indicator.SlowObjects = slices.Delete(indicator.SlowObjects, 0, more)
	}
}

// judgeObjectives lists the indicators in their order, those of load balancers where there are some.
func judgeObjectives(in input, status *ucv1.SLOStatus, seen slo.Seen) {
	countedAll(status, seen)
	least := defaultMinimumSamples
	if minimum := in.o.Cluster.Spec.SLO.MinimumSamples; minimum != nil {
		least = int(*minimum)
	}
	counted := status.Indicators
	status.Indicators = nil
	var verdicts []slo.Verdict
	for _, name := range slo.Indicators() {
		at := slices.IndexFunc(counted, func(i ucv1.SLOIndicator) bool { return i.Name == string(name) })
		indicator := ucv1.SLOIndicator{Name: string(name)}
		if at >= 0 {
			indicator = counted[at]
		} else if seen.LoadBalancers == 0 && name != slo.TaintRemoval && name != slo.InitialSync {
			continue
		}
		verdict := judgeIndicator(indicator, *status, seen, least, in.now)
		indicator.Verdict, indicator.CCM = ucv1.SLOVerdict(verdict), nil
		if said, does := seen.CCM[name]; does && said != (slo.Counts{}) {
			indicator.CCM = &ucv1.SLOCounts{Within: int32(said.Within), Missed: int32(said.Missed), Unsure: int32(said.Unsure)}
		}
		status.Indicators, verdicts = append(status.Indicators, indicator), append(verdicts, verdict)
	}
	status.Verdict = ucv1.SLOVerdict(slo.Worst(verdicts...))
}

// countedAll moves countedUntil to the end of the newest sample.
func countedAll(status *ucv1.SLOStatus, seen slo.Seen) {
	if len(seen.Samples) == 0 {
		return
	}
	end := metav1.NewMicroTime(seen.Samples[len(seen.Samples)-1].End)
	if status.CountedUntil == nil || status.CountedUntil.Before(&end) {
		status.CountedUntil = &end
	}
}

func judgeIndicator(indicator ucv1.SLOIndicator, status ucv1.SLOStatus, seen slo.Seen, least int, now time.Time) slo.Verdict {
	if indicator.Name != string(slo.SyncErrors) {
		own := slo.Counts{Within: int(indicator.Within), Missed: int(indicator.Missed), Unsure: int(indicator.Unsure)}
		return slo.Corroborate(own, seen.CCM[slo.Indicator(indicator.Name)], least)
	}
	last, since := time.Time{}, seen.EventsSince
	if indicator.LastMissedAt != nil {
		last = indicator.LastMissedAt.Time
	}
	if !since.IsZero() && since.Before(status.Since.Time) {
		since = status.Since.Time
	}
	return slo.JudgeErrors(last, since, now)
}

// measured: what could not be looked at is no good sign.
func measured(in input) outcome.Outcome {
	if !in.o.Measured.IsKnown() {
		return outcome.CannotLook("how long Nodes take to be initialized", in.o.Measured.Why())
	}
	return outcome.Holds(ucv1.HoldsReason, "")
}

// violates says that the objectives are violated while something is left to roll. That it was halted is a fact: errors of a
// quarter of an hour ago are no violation any more, and still no one looked. It rests on no row: the CCM that violates them may
// let one above Roll wait.
func violates(in input) bool {
	if !mayHalt(in) || in.facts.SLO.Verdict != ucv1.SLOVerdict(slo.Violated) || in.facts.SLO.ViolatedAt != nil ||
		in.facts.CompletedAt != nil {
		return false
	}
	return seesMachines(in) && leftToRoll(poolsOf(viewOf(in)))
}

// leftToRoll: one that was rolled and is scaled up makes new Machines, and replaces none.
func leftToRoll(pools []pool) bool {
	return slices.ContainsFunc(pools, func(pl pool) bool { return pl.old || pl.state == Outdated || pl.state == Blocked })
}

// objectivesMet halt the roll.
func objectivesMet(in input) outcome.Outcome {
	status := in.facts.SLO
	if !halted(in) {
		return outcome.Holds(ucv1.HoldsReason, "")
	}
	return outcome.Fails(ucv1.SLOViolatedReason, "Nothing more is rolled since "+status.ViolatedAt.UTC().Format(time.RFC3339)+
		", the objectives for the CCM were violated: ", observation.Join(missed(status.Indicators), "; "),
		"; no further old Machine goes. Look at the CCM's logs and at the events of these objects, then set spec.slo.countSince to "+
			"the present time to go on.")
}

func mayHalt(in input) bool {
	cluster := in.o.Cluster
	return in.facts.SLO != nil && !in.back() && cluster.DeletionTimestamp.IsZero() &&
		cluster.Spec.SLO.OnViolation != ucv1.ContinueOnViolation
}

// halted says that the objectives were violated, and no one looked since. What rolls already stands still for as long.
func halted(in input) bool {
	if !mayHalt(in) || in.facts.SLO.ViolatedAt == nil {
		return false
	}
	looked := in.o.Cluster.Spec.SLO.CountSince
	return looked == nil || !in.facts.SLO.ViolatedAt.Before(looked)
}

// missed says how often an objective was missed, and by whom.
func missed(indicators []ucv1.SLOIndicator) []observation.Text {
	var sentences []observation.Text
	for _, i := range indicators {
		switch {
		case i.Missed == 0:
		case i.Name == string(slo.SyncErrors):
			slow := observation.Say(strings.Join(i.Slow, ", ")).About(observation.RefsOf(i.SlowObjects)...)
			sentences = append(sentences, observation.Say(i.Name+": "+wording.Count(int(i.Missed), "error", "errors")+" (", slow, ")"))
		default:
			slow := observation.Say(strings.Join(i.Slow, "; ")).About(observation.RefsOf(i.SlowObjects)...)
			sentences = append(sentences, observation.Say(i.Name+": ", i.Missed, " of ", i.Within+i.Missed+i.Unsure, " took more than ",
				slo.Objective, " (", slow, ")"))
		}
	}
	return sentences
}
