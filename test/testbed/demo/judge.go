package demo

import (
	"fmt"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/audit"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/bed"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/loops"
)

// mostGap is the share of a lease that the hand-over itself may take.
const mostGap = 0.5

// ending is how a cluster's part of the story ends.
type ending struct {
	name, result string
	machines     MachinesReport
	nodes        int
	// loadBalancers are kept; where there are some, the canary has one, too.
	loadBalancers int
}

func endings() []ending {
	return []ending{
		{name: "alpha", result: Completed, machines: MachinesReport{Before: 6, Replaced: 6, Canaries: 1}, nodes: 6, loadBalancers: 2},
		{name: "beta", result: External, machines: MachinesReport{Before: 2}, nodes: 2},
		{name: "gamma", result: Completed, machines: MachinesReport{Before: 3, Replaced: 3, Canaries: 1}, nodes: 2},
		{name: "delta", result: Completed, nodes: 1},
	}
}

// Unmet names what did not end as the story promises. The delay of the condition is reported, not judged: it depends on
// the machine.
//
// A share of more than one is for runs beside others: the bars for times are multiplied by it.
func Unmet(report *Report, share float64) []string {
	if len(report.Clusters) != len(endings()) {
		return []string{fmt.Sprintf("%d clusters were reported, not %d", len(report.Clusters), len(endings()))}
	}
	j := judge{share: share}
	cloud, kcm := Spells{}, Spells{}
	for i, want := range endings() {
		j.name = want.name
		j.cluster(&report.Clusters[i], want)
		unattended := report.Clusters[i].Unattended
		cloud, kcm = cloud.with(unattended.Cloud), kcm.with(unattended.KCM).with(unattended.NodeIPAM)
	}
	j.name = "all clusters"
	j.expect(cloud.Moves > 0, "none of the cloud loops moved")
	j.expect(kcm.Moves > 0, "none of the loops of KCM moved")
	j.soon(cloud, "the cloud loops")
	// A freed Lease stood still for a retry period and is taken at the next retry: by itself KCM is near the middle of the two.
	j.soon(cloud.with(kcm), "all loops")
	j.reads(report.Controller.APIRequests)
	return j.unmet
}

// The most reads of the manager in a whole demo: GET, LIST and reviews. Without anything that is kept there are 6,300 and 8,700.
const (
	mostManagementReads = 1500
	mostUserReads       = 2500
)

// reads are few: a pass uses again what watches show no change of. A run beside others has more passes.
func (j *judge) reads(requests map[string]audit.Requests) {
	management, user := requests[bed.ManagementName].Reads(), 0
	j.expect(management > 0, "the audit log of the management cluster has no read of the manager")
	for _, name := range names() {
		j.expect(requests[name].All() > 0, "the audit log of %s has no request of the manager", name)
		user += requests[name].Reads()
	}
	j.expect(float64(management) <= j.share*mostManagementReads, "%d reads of the management cluster, at most %d", management,
		mostManagementReads)
	j.expect(float64(user) <= j.share*mostUserReads, "%d reads of user clusters, at most %d", user, mostUserReads)
}

func (j *judge) soon(all Spells, of string) {
	j.expect(j.share > 1 || 2*all.Soon >= all.Moves, "%d of %d moves of %s were soon, not half of them", all.Soon, all.Moves, of)
}

func (s Spells) with(more Spells) Spells {
	return Spells{Moves: s.Moves + more.Moves, Soon: s.Soon + more.Soon}
}

type judge struct {
	name  string
	share float64
	unmet []string
}

func (j *judge) expect(holds bool, format string, arguments ...any) {
	if !holds {
		j.unmet = append(j.unmet, j.name+": "+fmt.Sprintf(format, arguments...))
	}
}

func (j *judge) cluster(c *ClusterReport, want ending) {
	j.expect(c.Name == want.name && c.Result == want.result, "cluster %s is %s, not %s", c.Name, c.Result, want.result)
	for _, doubt := range c.Records.Doubts {
		j.expect(false, "the records prove nothing: %s", doubt)
	}
	j.loops(c, want)
	if want.result == Completed {
		j.deployments(c)
	}
	j.expect(c.Machines == want.machines, "Machines %+v, not %+v", c.Machines, want.machines)
	nodes := NodesReport{Total: want.nodes, Initialized: want.nodes}
	j.expect(c.Nodes == nodes, "Nodes %+v, not %+v", c.Nodes, nodes)
	balancers := loops.LoadBalancerSummary{Before: want.loadBalancers, Kept: want.loadBalancers}
	j.expect(c.LoadBalancers == balancers, "load balancers %+v, not %+v", c.LoadBalancers, balancers)
	// The canary takes with it what it made.
	canarys := min(want.machines.Canaries, want.loadBalancers)
	canary := loops.LoadBalancerSummary{Created: canarys, Deleted: canarys}
	j.expect(c.Canary == canary, "load balancers of the canary %+v, not %+v", c.Canary, canary)
}

func (j *judge) loops(c *ClusterReport, want ending) {
	j.expect(c.Handover.Overlaps == 0, "a loop ran in two managers %d times", c.Handover.Overlaps)
	gap := c.Handover.GapSeconds
	j.expect(gap != nil || want.result != Completed || want.machines.Before == 0, "the gap of the hand-over was not measured")
	if gap != nil {
		most := mostGap * c.Handover.LeaseDurationSeconds
		j.expect(*gap <= most, "the gap was %.1f s, at most %.1f s", *gap, most)
	}
	for _, spell := range []Spells{c.Unattended.Cloud, c.Unattended.KCM, c.Unattended.NodeIPAM} {
		most := spell.AtMostSeconds * j.share
		j.expect(spell.Seconds <= most, "loop %s ran nowhere for %.1f s, at most %.1f s", spell.Loop, spell.Seconds, most)
	}
}
