package handover

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/handover"
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
// over; what its user cluster needs beyond Setup is a field of that, which Play.run gives to the testbed. Those that take
// longest come first in their list.
func Scenarios() []Scenario {
	return slices.Concat(
		rolledBack(),
		ccmTroubles(),
		besideControlPlane(),
		zombies(),
		people(),
		administrators(),
		environment(),
		kcmKilled(),
		plain(),
		managerTroubles(),
	)
}

// lines of each table at which something else can happen than at the line before; a test compares them with the tables.
func lines(protocol ucv1.HandoverProtocolChoice) []string {
	begin := []string{"Probed", "BaselineTaken", "ProcessesRecorded"}
	switch protocol {
	case ucv1.SerializedProtocolChoice:
		return append(begin, "LeaderEndsLast", "LoopsOff", "Settled", "Silent", "WorkloadAllowed", "FenceOpen", "WorkloadApplied")
	case ucv1.LeaderMigrationProtocolChoice:
		return append(begin, "LockAllowed", "KCMArmed", "Settled", "CCMArmed", "LeaderEndsLast", "LoopsOff", "Silent",
			"LockTaken", "LockRemoved")
	case ucv1.FencedProtocolChoice, ucv1.AutoProtocol:
	}
	return append(begin, "LeaderEndsLast", "LoopsOff", "Settled", "Silent", "FenceOpen", "Leading")
}

func protocols() []ucv1.HandoverProtocolChoice {
	return []ucv1.HandoverProtocolChoice{
		ucv1.FencedProtocolChoice,
		ucv1.SerializedProtocolChoice,
		ucv1.LeaderMigrationProtocolChoice,
	}
}

// gapBar is the limit of the gap in a Hosted control plane that no one disturbs in it.
func gapBar(protocol ucv1.HandoverProtocolChoice, lease time.Duration) Bars {
	switch protocol {
	case ucv1.SerializedProtocolChoice:
		return Bars{Gap: lease * 3 / 2}
	case ucv1.LeaderMigrationProtocolChoice:
		return Bars{Gap: lease * 11 / 10}
	case ucv1.FencedProtocolChoice, ucv1.AutoProtocol:
	}
	return Bars{Gap: fencedGap}
}

// plain hand-overs are measured.
func plain() []Scenario {
	var scenarios []Scenario
	for _, protocol := range protocols() {
		for _, replicas := range []int32{1, 3} {
			leases := []time.Duration{usualLease}
			if protocol == ucv1.FencedProtocolChoice {
				leases = append(leases, 4*usualLease) // Its gap does not grow with the lease.
			}
			for _, lease := range leases {
				scenarios = append(scenarios, Scenario{
					Name:  strings.ToLower(fmt.Sprintf("%s-kcm-%d-lease-%g", protocol, replicas, lease.Seconds())),
					Setup: Setup{Protocol: protocol, KCMReplicas: replicas, Lease: lease},
					Want:  HandedOver, Bars: gapBar(protocol, lease), Measured: true, CI: replicas == 3 && lease == usualLease,
				})
			}
		}
	}
	return scenarios
}

// administrators hand over control planes of static pods.
func administrators() []Scenario {
	var scenarios []Scenario
	for _, protocol := range protocols() {
		for _, replicas := range []int32{1, 3} {
			scenario := Scenario{
				Name:  strings.ToLower(fmt.Sprintf("external-%s-kcm-%d", protocol, replicas)),
				Setup: Setup{Protocol: protocol, Topology: External, KCMReplicas: replicas, Lease: usualLease},
				Want:  HandedOver, Disturb: administer, Bars: Bars{NoGap: "a person changes one Node after the other, the leader's at " +
					"last; a static pod whose end no watch saw counts as ended when its successor has run for ten seconds"},
			}
			scenarios = append(scenarios, scenario)
		}
	}
	return scenarios
}

// kcmKilled kills KCM's leader at each line of the table.
func kcmKilled() []Scenario {
	const why = "no one runs the loops from the kill on until another KCM gets the dead one's Lease or, if that is sooner, the " +
		"CCM leads"
	var scenarios []Scenario
	for _, protocol := range protocols() {
		for _, line := range lines(protocol) {
			scenarios = append(scenarios, Scenario{
				Name:  strings.ToLower(fmt.Sprintf("kcm-killed-%s-%s", short(protocol), line)),
				Setup: usual(protocol), Want: HandedOver, Disturb: killKCMLeaderAt(line), Bars: Bars{NoGap: why},
			})
		}
	}
	return scenarios
}

// rolled back hand-overs are taken back before the point of no return.
func rolledBack() []Scenario {
	const (
		before = "the hand-over is rolled back many times before it is finished, and each time others end and start KCM and the CCM"
		after  = "the hand-over is like any other; what takes time is its rollback, in which the CCM's Lease has to run out before " +
			"KCM " +
			"starts"
	)
	var everyLine, afterwards []Scenario
	for _, protocol := range protocols() {
		name := strings.ToLower("rolled-back-" + short(protocol))
		everyLine = append(everyLine, Scenario{
			Name: name + "-every-line", Setup: Setup{Protocol: protocol, KCMReplicas: 2, Lease: shortLease}, Disturb: rollbackAtEveryLine,
			Want: HandedOver, Bars: Bars{NoGap: before},
		})
		afterwards = append(afterwards, Scenario{
			Name: name, Setup: usual(protocol), Disturb: rollbackAfterwards, Want: RolledBack, Bars: Bars{NoGap: after},
		})
	}
	return append(everyLine, afterwards...)
}

// short is for names, which are those of clusters, too.
func short(protocol ucv1.HandoverProtocolChoice) string {
	if protocol == ucv1.LeaderMigrationProtocolChoice {
		return "lock"
	}
	return string(protocol)
}

func usual(protocol ucv1.HandoverProtocolChoice) Setup {
	return Setup{Protocol: protocol, KCMReplicas: 2, Lease: usualLease}
}

func before(setup Setup, do func(context.Context, *Play) error) Setup {
	setup.Before = do
	return setup
}

func ccmTroubles() []Scenario {
	fenced, auto, lock := usual(ucv1.FencedProtocolChoice), usual(ucv1.AutoProtocol), usual(ucv1.LeaderMigrationProtocolChoice)
	untouched := Bars{NothingOpened: true, Untouched: true}
	const why = "the next CCM gets the dead one's Lease when that has run out"
	refused := untouched
	refused.CausedOverlap = anyTime
	return []Scenario{
		{Name: "ccm-dies-after-its-election", Setup: fenced, Disturb: killProbes, Want: Stalled, Bars: untouched, CI: true},
		{Name: "ccm-killed-taking-the-lease", Setup: fenced, Disturb: killCCMLeader(ccmName), Want: HandedOver, Bars: Bars{NoGap: why}},
		{
			Name:    "ccm-killed-taking-the-lock",
			Setup:   lock,
			Disturb: killCCMLeader(handover.LockName),
			Want:    HandedOver,
			Bars:    Bars{NoGap: why},
		},
		{
			Name: "ccm-lease-deleted", Setup: before(fenced, leaveLease), Disturb: deleteLease, Want: HandedOver,
			Bars: gapBar(ucv1.FencedProtocolChoice, usualLease),
		},
		{Name: "second-ccm-by-hand", Setup: before(fenced, startCCM), Want: Refused, Bars: refused},
		{
			Name: "leases-free-auto", Setup: before(auto, freeLeases), Want: HandedOver,
			Bars: gapBar(ucv1.SerializedProtocolChoice, usualLease),
		},
		{Name: "leases-free-fenced", Setup: before(fenced, freeLeases), Want: Refused, Bars: untouched},
		{Name: "leases-free-lock", Setup: before(lock, freeLeases), Want: Refused, Bars: untouched},
	}
}

// besideControlPlane are hand-overs to a CCM in the management cluster.
func besideControlPlane() []Scenario {
	var scenarios []Scenario
	setup := func(protocol ucv1.HandoverProtocolChoice) Setup {
		setup := usual(protocol)
		setup.BesideControlPlane = true
		return setup
	}
	for _, protocol := range protocols() {
		scenarios = append(scenarios, Scenario{
			Name: strings.ToLower("beside-" +
				short(protocol)), Setup: setup(protocol), Want: HandedOver, Bars: gapBar(protocol, usualLease),
			Measured: true, CI: protocol == ucv1.FencedProtocolChoice,
		})
	}
	return append(scenarios,
		Scenario{
			Name: "beside-ccm-killed", Setup: setup(ucv1.FencedProtocolChoice), Disturb: killCCMLeader(ccmName), Want: HandedOver,
			Bars: Bars{NoGap: "the next CCM gets the dead one's Lease when that has run out"},
		},
		Scenario{
			Name: "beside-ccm-dies-after-its-election", Setup: setup(ucv1.FencedProtocolChoice), Disturb: killProbes, Want: Stalled,
			Bars: Bars{NothingOpened: true, Untouched: true},
		},
		Scenario{
			Name: "beside-rolled-back", Setup: setup(ucv1.FencedProtocolChoice), Disturb: rollbackAfterwards, Want: RolledBack,
			Bars: Bars{NoGap: "what takes time is the rollback, in which the CCM's Lease has to run out before KCM starts"},
		},
	)
}

// zombies are processes that no one sees any more.
func zombies() []Scenario {
	setup := before(Setup{Protocol: ucv1.FencedProtocolChoice, KCMReplicas: 2, Lease: shortLease}, standbyApart)
	late := func(what string) Bars {
		return Bars{NoGap: what + " runs the loops no more and has not ended, so that no one may"}
	}
	return []Scenario{
		{
			Name: "standby-outlives-pod-leader-killed", Setup: setup, Disturb: zombieStandby, Want: Stalled, Slow: true,
			Bars: Bars{NothingOpened: true},
		},
		{
			Name: "standby-outlives-pod-and-ends", Setup: setup, Disturb: inOrder(zombieStandby, endZombie), Want: HandedOver,
			Bars: Bars{NoGap: "the CCM waits until the process that no one sees has ended for certain"},
		},
		{
			Name:    "kcm-leader-frozen",
			Setup:   before(usual(ucv1.FencedProtocolChoice), holdRolloutsBefore),
			Disturb: frozenLeader,
			Want:    HandedOver,
			Bars:    late("the frozen process"),
		},
		{
			Name: "kcm-pod-stuck-terminating", Setup: before(usual(ucv1.FencedProtocolChoice), stuckPod), Want: HandedOver,
			Bars: gapBar(ucv1.FencedProtocolChoice, usualLease),
		},
	}
}

func managerTroubles() []Scenario {
	fenced := usual(ucv1.FencedProtocolChoice)
	held := before(fenced, holdRolloutsBefore)
	const away = "no one can open the fence while the manager is away"
	scenarios := []Scenario{
		{
			Name:      "manager-away",
			Setup:     held,
			Disturb:   withoutManager(longerThanAnyLease),
			Want:      HandedOver,
			Exclusive: true,
			Bars:      Bars{NoGap: away},
		},
		{
			Name: "node-dies-in-the-gap", Setup: held, Want: HandedOver, Exclusive: true, Bars: Bars{NoGap: away},
			Disturb: inOrder(withoutManager(killNode), deleteDeadNode),
		},
	}
	for _, protocol := range protocols() {
		scenarios = append(scenarios, Scenario{
			Name: strings.ToLower("manager-killed-at-every-line-" +
				short(protocol)), Setup: usual(protocol), Disturb: killManagerAtEveryLine,
			Want: HandedOver, Exclusive: true, Bars: Bars{NoGap: "the manager starts again at each line of the gap, which takes seconds"},
		})
	}
	return scenarios
}

func environment() []Scenario {
	fenced := usual(ucv1.FencedProtocolChoice)
	noRoutes, named, namedLock := fenced, fenced, usual(ucv1.LeaderMigrationProtocolChoice)
	noRoutes.KCMFlags = []string{"--allocate-node-cidrs=false"}
	// Without a file KCM takes upstream's default names, under which its filter finds no loop.
	named.KCMFlags = []string{"--enable-leader-migration=true"}
	namedLock.KCMFlags = named.KCMFlags
	bar := gapBar(ucv1.FencedProtocolChoice, usualLease)
	routeless := bar
	routeless.NoRoutes = true
	return []Scenario{
		{Name: "no-routes", Setup: noRoutes, Want: HandedOver, Bars: routeless, CI: true},
		{Name: "upstream-names-fenced", Setup: before(named, allowKCMLock), Want: HandedOver, Bars: bar},
		{
			Name:  "upstream-names-lock",
			Setup: before(namedLock, allowKCMLock),
			Want:  Refused,
			Bars:  Bars{NothingOpened: true, Untouched: true},
		},
		{
			Name: "api-server-away", Setup: fenced, Disturb: apiServerAway, Want: HandedOver,
			Bars: Bars{NoGap: "no loop can run anywhere while the API server is away"},
		},
		{
			Name: "cloud-answers-500", Setup: fenced, Want: HandedOver, Bars: bar,
			Disturb: cloudBroken(simcloud.Fault{ErrorStatus: http.StatusInternalServerError}),
		},
		{
			Name:    "cloud-hangs",
			Setup:   fenced,
			Disturb: cloudBroken(simcloud.Fault{LatencyMS: time.Minute.Milliseconds()}),
			Want:    HandedOver,
			Bars:    bar,
		},
	}
}

func people() []Scenario {
	bars := gapBar(ucv1.FencedProtocolChoice, usualLease)
	bars.CausedOverlap = renewDeadline + samplingTime
	return []Scenario{
		{Name: "contention", Setup: usual(ucv1.FencedProtocolChoice), Disturb: contend, Want: HandedOver, CI: true, Bars: bars},
	}
}
