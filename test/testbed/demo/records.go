package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	kcmName = "kube-controller-manager"
	ccmName = "cloud-controller-manager"
	// settleTime after the end of a hand-over is still its own: the sampler sees the CCM's loops later than the controller sees
	// its Lease.
	settleTime = 5 * time.Second
)

func components() []string { return []string{kcmName, ccmName} }

// Records are the raw records of the testbed, or of one of its clusters.
type Records struct {
	Calls    []simcloud.Call
	Samples  []loops.Sample
	Reads    []loops.Read
	Managers []loops.Manager
	Terms    []loops.Term
}

// Moments of a cluster's story; zero where there was none.
type Moments struct {
	Flipped, FirstNode, HandedOver, Ended time.Time
}

// window is the whole run. A cluster without Nodes has nowhere to run a CCM, and nothing that one would be missed by.
func (m Moments) window() (from, to time.Time) {
	if m.FirstNode.After(m.Flipped) {
		return m.FirstNode, m.Ended
	}
	return m.Flipped, m.Ended
}

// cloudLoops are those that the cluster has: one that was created with the feature has no cloud routes in the testbed.
func (m Moments) cloudLoops() []string {
	if m.HandedOver.IsZero() {
		return slices.DeleteFunc(loops.CloudLoops(), func(loop string) bool { return loop == "route" })
	}
	return loops.CloudLoops()
}

func (s *Story) records() (Records, error) {
	var all Records
	var err error
	if all.Calls, err = loops.ReadFile(s.Bed.File("simcloud.jsonl"), loops.ReadCalls); err != nil {
		return Records{}, err
	}
	if all.Samples, err = loops.ReadFile(s.Bed.File("loops.jsonl"), loops.ReadSamples); err != nil {
		return Records{}, err
	}
	if all.Reads, err = loops.ReadFile(s.Bed.File("reads.jsonl"), loops.ReadReads); err != nil {
		return Records{}, err
	}
	if all.Managers, err = loops.ReadManagers(s.Bed.Options().Dir, bed.ManagementName); err != nil {
		return Records{}, err
	}
	for _, name := range names() {
		all.Terms = append(all.Terms, s.witnesses[name].Terms()...)
	}
	return all, writeLines(s.Bed.File("leases.jsonl"), all.Terms)
}

func writeLines[T any](path string, records []T) error {
	var text []byte
	for _, record := range records {
		line, err := json.Marshal(record)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	return os.WriteFile(path, text, 0o644)
}

func (r Records) of(cluster string) Records {
	return Records{
		Calls: loops.OfCluster(r.Calls, cluster), Samples: loops.OfCluster(r.Samples, cluster),
		Reads: loops.OfCluster(r.Reads, cluster), Managers: loops.OfCluster(r.Managers, cluster),
		Terms: loops.OfCluster(r.Terms, cluster),
	}
}

// Describe fills in what the records of one cluster say.
func (r Records) Describe(report *ClusterReport, moments Moments, lease time.Duration) {
	evidence := loops.Evidence{Terms: r.Terms, Managers: r.Managers, Samples: r.Samples}
	short, doubts := evidence.Judge(moments.Flipped, moments.Ended)
	report.Handover = HandoverReport{
		LeaseDurationSeconds: lease.Seconds(),
		Overlaps:             len(loops.Overlaps(r.Samples)) + len(loops.CallOverlaps(r.Calls)) + len(short),
	}
	from, to := moments.window()
	if !moments.HandedOver.IsZero() && moments.FirstNode.Before(moments.HandedOver) {
		gap := loops.Unattended(r.Samples, loops.CloudLoops(), moments.Flipped, moments.HandedOver.Add(settleTime)).Seconds
		report.Handover.GapSeconds = &gap
	}
	report.Unattended = UnattendedReport{
		From: from, To: to,
		Cloud:    r.unattended(moments.cloudLoops(), from, to, ccmName, 0),
		KCM:      judged(evidence.Leaderless(kcmName, from, to), r.retryPeriod(kcmName), 0),
		NodeIPAM: r.unattended(r.sampledOfKCM(), from, to, kcmName, nodeIPAMStart),
	}
	var canarys, others []simcloud.Call
	for _, call := range r.Calls {
		if call.Object == canaryBalancer {
			canarys = append(canarys, call)
		} else {
			others = append(others, call)
		}
	}
	report.LoadBalancers = loops.LoadBalancers(others, moments.Flipped)
	report.Canary = loops.LoadBalancers(canarys, moments.Flipped)
	report.Records = RecordsReport{
		Calls: len(r.Calls), Samples: len(r.Samples), Terms: len(r.Terms), Reads: loops.SumReads(r.Reads),
		Doubts: slices.Concat(r.missing(moments), loops.Unread(r.Reads, r.Managers, moments.Ended), doubts),
	}
}

// canaryBalancer is the load balancer of the canary's Service.
const canaryBalancer = "kubernetes-" + ucv1.CanaryNamespace + "-" + ucv1.CanaryName

// nodeIPAMStart is how long nodeipam waits before it looks at Nodes first, once its KCM leads: what KCM starts after it waits,
// too (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/controller/nodeipam/ipam/cidr_allocator.go#L139,
// TestNodeIPAMBeginsTenSecondsAfterItsKCMLeads).
const nodeIPAMStart = 10 * time.Second

// unattended judges loops by the samples of managers' metrics. The longest spell need not be a move: a loop may end, or its
// manager may not be readable.
func (r Records) unattended(which []string, from, to time.Time, lease string, start time.Duration) Spells {
	spells := judged(loops.Moves(r.Samples, which, from, to), r.retryPeriod(lease), start)
	spells.Spell = loops.Unattended(r.Samples, which, from, to)
	return spells
}

// judged has the bars for Leases that are freed when we end their holder: the next manager takes one at its next retry, which
// client-go draws from one to 2.2 retry periods, and 4 seconds are the proof's and the sampler's
// (https://github.com/kubernetes/client-go/blob/v0.30.14/tools/leaderelection/leaderelection.go#L251).
func judged(moves []loops.Spell, retry, start time.Duration) Spells {
	spells := Spells{Moves: len(moves), AtMostSeconds: (retry*22/10 + start + 4*time.Second).Seconds()}
	for _, move := range moves {
		if move.Seconds > spells.Seconds {
			spells.Spell = move
		}
		if move.Seconds <= (usual + start).Seconds() {
			spells.Soon++
		}
	}
	return spells
}

// usual is within what half of all moves have to be.
const usual = 5 * time.Second

// retryPeriod of a manager: a CCM has the default duration of its Lease, whatever KCM has.
func (r Records) retryPeriod(component string) time.Duration {
	longest := int32(0)
	for _, term := range r.Terms {
		if term.Lease == component {
			longest = max(longest, term.DurationSeconds)
		}
	}
	return bed.RetryPeriod(time.Duration(longest) * time.Second)
}

// sampledOfKCM are those that stay there and that its metric has: nodeipam
// (https://github.com/kubernetes/kubernetes/blob/v1.30.14/pkg/controller/nodeipam/node_ipam_controller.go#L174). The others run
// and end with it, by the same Lease.
func (r Records) sampledOfKCM() []string {
	var found []string
	for _, sample := range r.Samples {
		if sample.Component == kcmName && !slices.Contains(loops.CloudLoops(), sample.Loop) && !slices.Contains(found, sample.Loop) {
			found = append(found, sample.Loop)
		}
	}
	return found
}

// missing names the records that there have to be: no record is no proof that nothing happened.
func (r Records) missing(moments Moments) []string {
	var missing []string
	expect := func(found bool, format string, arguments ...any) {
		if !found {
			missing = append(missing, fmt.Sprintf(format, arguments...))
		}
	}
	expect(!moments.FirstNode.IsZero(), "no Node was seen")
	expect(len(r.sampledOfKCM()) > 0, "no loop was seen in KCM")
	for _, component := range components() {
		known := slices.ContainsFunc(r.Managers, func(m loops.Manager) bool { return m.Component == component })
		expect(known, "no process of %s is known", component)
	}
	called := slices.ContainsFunc(r.Calls, func(call simcloud.Call) bool { return call.Component == ccmName })
	expect(called, "the CCM never called the cloud")
	for _, loop := range moments.cloudLoops() {
		if !moments.HandedOver.IsZero() {
			expect(r.saw(kcmName, loop, time.Time{}, moments.HandedOver), "loop %s was never seen in KCM before the hand-over", loop)
		}
		expect(r.saw(ccmName, loop, moments.HandedOver, moments.Ended), "loop %s was never seen in the CCM after the hand-over", loop)
	}
	return missing
}

func (r Records) saw(component, loop string, from, to time.Time) bool {
	return slices.ContainsFunc(r.Samples, func(s loops.Sample) bool {
		return s.Running && s.Component == component && s.Loop == loop && !s.Time.Before(from) && !s.Time.After(to)
	})
}
