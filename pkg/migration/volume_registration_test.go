package migration

import (
	"testing"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

const vmdk = "[fast] kubevols/a.vmdk"

// registering is a roll whose in-tree volume is as old as that.
func registering(given func() Observation, age time.Duration) func() Observation {
	return func() Observation {
		o := given()
		edit(&o.Provider, func(p *observation.Provider) { p.RegisteredBy = "cnsvspherevolumemigrations.cns.vmware.com" })
		edit(&o.Inventory, func(i *observation.Inventory) {
			i.Volumes = append([]observation.Volume{{Name: "a", Path: vmdk, CreatedAt: ago(age)}, {Name: "csi"}}, i.Volumes...)
		})
		o.Registered = observation.Known(map[string]bool{vmdk: true})
		return o
	}
}

func TestVolumesAreRegisteredBeforeNodesAreDrained(t *testing.T) {
	registered := func(seen observation.Observed[map[string]bool]) func(*Observation) {
		return func(o *Observation) { o.Registered = seen }
	}
	none := registered(observation.Known(map[string]bool{}))
	late := func(o *Observation) {
		none(o)
		o.Cluster.Status.MachineControllerConfiguredAt = stampAgo(61 * time.Minute)
	}
	then := func(changes ...func(*Observation)) func(*Observation) {
		return func(o *Observation) {
			for _, change := range changes {
				change(o)
			}
		}
	}
	accept := func(name string) func(*Observation) {
		return func(o *Observation) { o.Cluster.Spec.Rollout.AcceptVolumes = []string{name} }
	}
	for name, stage := range map[string]struct {
		given func() Observation
		goes  outcome.ActionKind
	}{
		"the first of a roll": {rolling, outcome.ActionRollMachineDeployment},
		"a step of it":        {pooled{replicas: 1, surge: 1, old: "R", fresh: "P"}.observation, outcome.ActionStepMachineSet},
	} {
		given := registering(stage.given, 24*time.Hour)
		runDecisions(t, map[string]decision{
			name + " goes when each volume is registered": {given: given, step: ucv1.StepRoll, action: stage.goes},
			name + " waits for a volume by name": {
				given: given, when: none, step: ucv1.StepRoll, wait: ucv1.RegisteringVolumesReason, says: []string{"PersistentVolume a"},
			},
			name + " waits where the CRD does not exist, and says so": {
				given: given, when: registered(observation.Absent[map[string]bool]()), step: ucv1.StepRoll,
				wait: ucv1.RegisteringVolumesReason, says: []string{"The CRD does not exist"},
			},
			name + " waits where no one could look": {
				given: given, when: registered(observation.Unknown[map[string]bool]("forbidden")), step: ucv1.StepRoll,
				wait: ucv1.CouldNotLookReason, says: []string{"forbidden"},
			},
			name + " fails by name after the deadline": {
				given: given, when: late, step: ucv1.StepRoll, fails: ucv1.VolumesNotRegisteredReason,
				says: []string{"PersistentVolume a", "spec.rollout.acceptVolumes"},
			},
			name + " gives a volume that is new its time": {
				given: registering(stage.given, time.Minute), when: late, step: ucv1.StepRoll, wait: ucv1.RegisteringVolumesReason,
			},
			name + " goes when the volume is accepted": {
				given: given, when: then(late, accept("a")), step: ucv1.StepRoll, action: stage.goes,
			},
			name + " does not go when another one is": {
				given: given, when: then(late, accept("b")), step: ucv1.StepRoll, fails: ucv1.VolumesNotRegisteredReason,
			},
			name + " needs nothing of the sort with other drivers": {
				given: given,
				when:  then(none, func(o *Observation) { edit(&o.Provider, func(p *observation.Provider) { p.RegisteredBy = "" }) }),
				step:  ucv1.StepRoll, action: stage.goes,
			},
		})
	}
}
