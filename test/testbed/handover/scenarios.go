package handover

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/simcloud"
)

const (
	usualLease = 15 * time.Second
	// shortLease is long enough for a busy machine to renew in time.
	shortLease = 6 * time.Second
	// fencedGap is the bar of protocol Fenced, whatever the lease is.
	fencedGap = 3 * time.Second
	// anyTime bounds nothing.
	anyTime = time.Hour
)

// Scenarios are all that there are. A new one is an element of one of these lists, or of a new list for a new way to hand
// over; what its user cluster needs beyond Setup is a field of that, which Play.run gives to the testbed. Row.Topology comes
// from there as soon as there is a second one.
func Scenarios() []Scenario {
	return slices.Concat(plain(), kcmKilled(), ccmTroubles(), zombies(), managerTroubles(), environment(), people())
}

// lines of each table at which something else can happen than at the line before; a test compares them with the tables.
func lines(protocol ucv1.HandoverProtocolChoice) []string {
	if protocol == ucv1.SerializedProtocolChoice {
		return []string{
			"Probed", "BaselineTaken", "ProcessesRecorded", "LeaderEndsLast", "LoopsOff", "Silent", "WorkloadAllowed", "FenceOpen", "WorkloadApplied",
		}
	}
	return []string{"Probed", "BaselineTaken", "ProcessesRecorded", "LeaderEndsLast", "LoopsOff", "Silent", "FenceOpen", "Leading"}
}

func protocols() []ucv1.HandoverProtocolChoice {
	return []ucv1.HandoverProtocolChoice{ucv1.FencedProtocolChoice, ucv1.SerializedProtocolChoice}
}

// plain hand-overs are measured.
func plain() []Scenario {
	var scenarios []Scenario
	for _, protocol := range protocols() {
		for _, lease := range []time.Duration{usualLease, 4 * usualLease} {
			for _, replicas := range []int32{1, 3} {
				bar := fencedGap
				if protocol == ucv1.SerializedProtocolChoice {
					bar = lease * 3 / 2
				}
				scenarios = append(scenarios, Scenario{
					Name:  strings.ToLower(fmt.Sprintf("%s-kcm-%d-lease-%g", protocol, replicas, lease.Seconds())),
					Setup: Setup{Protocol: protocol, KCMReplicas: replicas, Lease: lease},
					Want:  HandedOver, Bars: Bars{Gap: bar}, Exclusive: true,
				})
			}
		}
	}
	return scenarios
}

// kcmKilled kills KCM's leader at each line of the table.
func kcmKilled() []Scenario {
	var scenarios []Scenario
	for _, protocol := range protocols() {
		for _, line := range lines(protocol) {
			scenarios = append(scenarios, Scenario{
				Name:  strings.ToLower(fmt.Sprintf("kcm-killed-%s-%s", protocol, line)),
				Setup: Setup{Protocol: protocol, KCMReplicas: 2, Lease: usualLease},
				Want:  HandedOver, Disturb: killKCMLeaderAt(line), CI: protocol == ucv1.FencedProtocolChoice && line == "LoopsOff",
			})
		}
	}
	return scenarios
}

func usual(protocol ucv1.HandoverProtocolChoice) Setup {
	return Setup{Protocol: protocol, KCMReplicas: 2, Lease: usualLease}
}

func before(setup Setup, do func(context.Context, *Play) error) Setup {
	setup.Before = do
	return setup
}

func ccmTroubles() []Scenario {
	fenced, auto := usual(ucv1.FencedProtocolChoice), usual(ucv1.AutoProtocol)
	return []Scenario{
		{Name: "ccm-killed-taking-the-lock", Setup: fenced, Disturb: killCCMLeader, Want: HandedOver},
		{
			Name: "ccm-dies-after-its-election", Setup: fenced, Disturb: killProbes, Want: Stalled, CI: true,
			Bars: Bars{NothingOpened: true, Untouched: true},
		},
		{Name: "ccm-lease-deleted", Setup: before(fenced, leaveLease), Disturb: deleteLease, Want: HandedOver},
		{
			Name: "second-ccm-by-hand", Setup: before(fenced, startCCM), Want: Refused,
			Bars: Bars{NothingOpened: true, Untouched: true, CausedOverlap: anyTime},
		},
		{Name: "leases-free-auto", Setup: before(auto, freeLeases), Want: HandedOver, CI: true},
		{
			Name: "leases-free-fenced", Setup: before(fenced, freeLeases), Want: Refused, CI: true,
			Bars: Bars{NothingOpened: true, Untouched: true},
		},
	}
}

// zombies are processes that nobody sees any more.
func zombies() []Scenario {
	setup := before(Setup{Protocol: ucv1.FencedProtocolChoice, KCMReplicas: 2, Lease: shortLease}, standbyApart)
	return []Scenario{
		{
			Name: "standby-outlives-pod-leader-killed", Setup: setup, Disturb: zombieStandby, Want: Stalled, Slow: true,
			Bars: Bars{NothingOpened: true},
		},
		{
			Name: "standby-outlives-pod-and-ends", Setup: setup, Disturb: inOrder(zombieStandby, endZombie), Want: HandedOver,
		},
		{Name: "kcm-leader-frozen", Setup: before(usual(ucv1.FencedProtocolChoice), holdRolloutsBefore), Disturb: frozenLeader, Want: HandedOver, CI: true},
		{Name: "kcm-pod-stuck-terminating", Setup: before(usual(ucv1.FencedProtocolChoice), stuckPod), Want: HandedOver},
	}
}

func managerTroubles() []Scenario {
	fenced, serialized := usual(ucv1.FencedProtocolChoice), usual(ucv1.SerializedProtocolChoice)
	held := before(fenced, holdRolloutsBefore)
	return []Scenario{
		{Name: "manager-killed-at-every-line-fenced", Setup: fenced, Disturb: killManagerAtEveryLine, Want: HandedOver, Exclusive: true},
		{Name: "manager-killed-at-every-line-serialized", Setup: serialized, Disturb: killManagerAtEveryLine, Want: HandedOver, Exclusive: true},
		{Name: "manager-away", Setup: held, Disturb: withoutManager(longerThanAnyLease), Want: HandedOver, Exclusive: true},
		{
			Name: "node-dies-in-the-gap", Setup: held, Want: HandedOver, Exclusive: true,
			Disturb: inOrder(withoutManager(killNode), deleteDeadNode),
		},
	}
}

func environment() []Scenario {
	fenced := usual(ucv1.FencedProtocolChoice)
	noRoutes := fenced
	noRoutes.KCMFlags = []string{"--allocate-node-cidrs=false"}
	return []Scenario{
		{Name: "no-routes", Setup: noRoutes, Want: HandedOver, Bars: Bars{NoRoutes: true}, CI: true},
		{Name: "api-server-away", Setup: fenced, Disturb: apiServerAway, Want: HandedOver},
		{
			Name: "cloud-answers-500", Setup: fenced, Want: HandedOver,
			Disturb: cloudBroken(simcloud.Fault{ErrorStatus: http.StatusInternalServerError}),
		},
		{Name: "cloud-hangs", Setup: fenced, Disturb: cloudBroken(simcloud.Fault{LatencyMS: time.Minute.Milliseconds()}), Want: HandedOver},
	}
}

func people() []Scenario {
	return []Scenario{{
		Name: "contention", Setup: usual(ucv1.FencedProtocolChoice), Disturb: contend, Want: HandedOver, CI: true,
		Bars: Bars{CausedOverlap: renewDeadline + samplingTime},
	}}
}
