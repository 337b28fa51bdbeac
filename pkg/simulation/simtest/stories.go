package simtest

import (
	"slices"
	"strings"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// Stories are scenarios without chance, one for each way that a migration can go; tests, plan and the demo tell them.
func Stories() []Scenario {
	return []Scenario{
		HighlyAvailable(),
		CreatedWithFeature(),
		OneOfEach(),
		ZeroMachines(),
		KilledInTheMiddle(),
		RolledBackAndRedone(),
		OtherAddresses(),
		BrokenHalfWay(),
		SlowNodes(),
	}
}

// HighlyAvailable has two KCM replicas, two MachineDeployments and two load balancers.
func HighlyAvailable() Scenario {
	return Scenario{
		Name: "alpha", Pools: []Pool{{Name: "workers", Replicas: 3}, {Name: "builders", Replicas: 2}}, Services: 2,
	}
}

// CreatedWithFeature is external from the start.
func CreatedWithFeature() Scenario {
	return Scenario{
		Name: "beta", CreatedWithFeature: true, KCMExternal: true, Services: 1, Strangers: []string{"first"},
	}
}

// OneOfEach has a paused MachineDeployment and a Machine that stands alone; both are named, and then a person acts.
func OneOfEach() Scenario {
	return Scenario{
		Name: "gamma", Pools: []Pool{{Name: "workers", Replicas: 2}, {Name: "frozen", Replicas: 1, Paused: true}},
		Standalone: []string{"alone"}, Services: 1,
		Interventions: []Intervention{{
			Name: "unpauses frozen and deletes alone", When: Stalled(ucv1.BlockedMachinesReason),
			Do: func(w *World) { Unpause(w); DeleteStandaloneMachines(w) },
		}},
	}
}

// ZeroMachines completes without a Node and gets its first one afterwards.
func ZeroMachines() Scenario {
	return Scenario{
		Name: "delta", Services: 1,
		Interventions: []Intervention{{
			Name: "creates the first MachineDeployment", When: Finished,
			Do: func(w *World) { AddPool(w, Pool{Name: "workers", Replicas: 2}) },
		}},
	}
}

// KilledInTheMiddle kills the controller right after it rolled the first MachineDeployment, before it could persist it.
func KilledInTheMiddle() Scenario {
	s := HighlyAvailable()
	s.Name = "epsilon"
	killed := false
	s.KillAt = func(_ int, point KillPoint, d migration.Decision) bool {
		now := !killed && point == BeforePersist && d.Next() != nil && d.Next().Kind == outcome.ActionRollMachineDeployment
		killed = killed || now
		return now
	}
	return s
}

// RolledBackAndRedone is rolled back in the middle of the roll, and then migrated after all.
func RolledBackAndRedone() Scenario {
	s := HighlyAvailable()
	s.Name, s.MaxTicks = "zeta", 2000
	s.Interventions = []Intervention{
		{
			Name: "asks for the rollback", When: func(w *World) bool { return w.invariants.replacing > 1 },
			Do: func(w *World) { Rollback(w, true) },
		},
		{Name: "asks for the migration again", When: RolledBack, Do: func(w *World) { Rollback(w, false) }},
	}
	return s
}

// OtherAddresses has a CCM that starts without its loop cloud-node and sees other addresses than the kubelets, until a person
// fixes the cloud configuration.
func OtherAddresses() Scenario {
	s := HighlyAvailable()
	s.Name, s.CloudNodeLater, s.OtherAddresses = "eta", true, true
	s.Interventions = []Intervention{
		{
			Name: "corrects the networks in the cloud configuration",
			When: Stalled(ucv1.NodeAddressesDifferReason),
			Do:   FixAddresses,
		},
	}
	return s
}

// SlowNodes has a CCM that takes longer than its objective for every Node, until a person fixes it and lets the roll go on.
func SlowNodes() Scenario {
	s := HighlyAvailable()
	s.Name, s.SlowNodes = "iota", 70*simulation.Tick
	s.Interventions = []Intervention{
		{
			Name: "gives the CCM a larger quota of requests",
			When: Stalled(ucv1.SLOViolatedReason),
			Do:   func(w *World) { FixNodes(w); CountAgain(w) },
		},
	}
	return s
}

// Says reports whether a line of the transcript contains all of the words.
func (t *Transcript) Says(words ...string) bool {
	return slices.ContainsFunc(t.Lines, func(line string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
	})
}

// BrokenHalfWay has the cloud stop answering in the middle of the roll, until a person fixes it.
func BrokenHalfWay() Scenario {
	return Scenario{
		Name: "theta", Pools: []Pool{{Name: "workers", Replicas: 4, Surge: 1, Unavailable: 1}}, Services: 1,
		Interventions: []Intervention{
			{Name: "breaks the cloud", When: halfRolled, Do: BreakCloud},
			{Name: "fixes the cloud", When: Stalled(ucv1.BreakerTrippedReason), Do: FixCloud},
		},
	}
}

// halfRolled: some Machines are external, and not all.
func halfRolled(w *World) bool {
	external := 0
	for _, n := range w.Nodes.All {
		if n.External && !n.Tainted && n.Machine != "" && w.Canary.Deployment() == nil {
			external++
		}
	}
	return external > 1
}
