package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
)

// draining has a Machine that has been going for a minute.
func draining() Observation {
	o := verifying()
	edit(&o.Machines, func(m *observation.Machines) {
		m.Machines = append(m.Machines, observation.Machine{
			Ref: observation.Ref{
				Kind:      "Machine",
				Namespace: "x",
				Name:      "old",
				UID:       "old",
			},
			NodeName:      "n-old",
			Deleting:      true,
			DeletingSince: ago(time.Minute),
		})
	})
	o.Drains = observation.Known([]observation.Drain{{
		Machine: observation.Ref{Kind: "Machine", Namespace: "x", Name: "old", UID: "old"}, Node: "n-old",
		Pods: []observation.DrainedPod{
			{Namespace: "web", Name: "front-0", Budget: observation.Ref{Kind: "PodDisruptionBudget", Namespace: "web", Name: "front"}},
			{Namespace: "web", Name: "slow-0", Going: true, Finalizers: []string{"example.com/hold"}},
			{Namespace: "web", Name: "plain-0"},
		},
		Finalizers: []string{"example.com/keep"}, Attachments: []string{"csi-1"},
	}})
	return o
}

func detachesFirst(o *Observation) {
	edit(&o.Provider, func(p *observation.Provider) { p.DetachesFirst = true })
}

func TestDrainTroublesAreNamed(t *testing.T) {
	troubles := []string{
		"Machine x/old has been going since 2026-01-01T11:59:00Z", "may not be evicted now: web/front-0 by PodDisruptionBudget " +
			"web/front",
		"web/slow-0 by finalizer example.com/hold", "not evicted yet: web/plain-0", "finalizers of others: example.com/keep",
		"VolumeAttachments of Node n-old that do not go: csi-1", "deletes the instance by force, at 2026-01-01T13:59:00Z",
	}
	runDecisions(t, map[string]decision{
		"while it is waited for": {given: draining, step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: troubles},
		"when the deadline has passed": {
			given: draining,
			when:  machines(func(m *observation.Machines) { m.Machines[1].DeletingSince = ago(time.Hour) }),
			step:  ucv1.StepRoll,
			fails: ucv1.NodesNotInitializedReason,
			says:  []string{"does not go", "web/front-0", "by force, at 2026-01-01T13:00:00Z"},
		},
		"the machine-controller's own time counts": {
			given: draining, when: func(o *Observation) {
				edit(&o.MachineController, func(d *[]observation.MachineControllerDeployment) {
					(*d)[0].Arguments.Flags["skip-eviction-after"] = "30m"
				})
			},
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: []string{"by force, at 2026-01-01T12:29:00Z"},
		},
		"no force comes where the machine-controller waits for volumes": {
			given: draining, when: detachesFirst, step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason,
			says: []string{"not evicted yet: web/plain-0", "csi-1; the machine-controller deletes no instance while these " +
				"VolumeAttachments exist"},
			never: "by force",
		},
		"force comes there, too, when no volume is left": {
			given: draining, when: func(o *Observation) {
				detachesFirst(o)
				edit(&o.Drains, func(d *[]observation.Drain) { (*d)[0].Attachments = nil })
			},
			step: ucv1.StepRoll, wait: ucv1.WaitingForMachinesReason, says: []string{"by force, at 2026-01-01T13:59:00Z"},
		},
		"what could not be looked at is not named": {
			given: draining,
			when:  func(o *Observation) { o.Drains = observation.Unknown[[]observation.Drain]("timeout") },
			step:  ucv1.StepRoll,
			wait:  ucv1.WaitingForMachinesReason,
		},
	})
}

func TestDrainsAreLookedForAfterAWhile(t *testing.T) {
	g := NewWithT(t)
	g.Expect(rollout.DrainsOf(draining().Machines.Value(), noon())).To(HaveLen(1))
	g.Expect(rollout.DrainsOf(draining().Machines.Value(), noon().Add(-45*time.Second))).To(BeEmpty())
	g.Expect(rollout.DrainsOf(observation.Machines{}, noon())).To(BeEmpty())
}
