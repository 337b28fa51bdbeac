package simtest

import (
	"testing"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

func installs(when func(*World) bool, flags map[string]string) Intervention {
	return Intervention{Name: "installs another CCM", When: when, Do: func(w *World) { InstallCCM(w, "occm", flags) }}
}

func inTheHandover(w *World) bool {
	handover := w.Cluster.Status.Handover
	return handover != nil && handover.StartedAt != nil
}

func TestOtherManagers(t *testing.T) {
	t.Parallel()
	own, none := map[string]string{"leader-elect-resource-name": "theirs"}, map[string]string{"leader-elect": "false"}
	runScenarios(t, map[string]scenarioTest{
		"one with a Lease of its own is found before anything is touched": {
			scenario: with(func(s *Scenario) { s.Interventions = []Intervention{installs(nil, own)} }),
			ends:     ucv1.StepPreflight,
			reason:   ucv1.ForeignObjectsReason,
			says:     []string{"STALLED", "Deployment theirs/occm"},
			never:    []string{"ApplyAddons"},
		},
		"one without leader election that comes in the hand-over keeps the fence closed until it is gone": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append(
					[]Intervention{installs(inTheHandover, none)},
					then(ucv1.ForeignObjectsReason, RemoveCCMs)...)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED ForeignObjects", "Deployment theirs/occm"},
		},
		"one that comes after the hand-over stops the roll until it is gone": {
			scenario: with(func(s *Scenario) {
				s.Interventions = append(
					[]Intervention{installs(AtStep(ucv1.StepRoll), own)},
					then(ucv1.CloudLoopsContendedReason, RemoveCCMs)...)
			}),
			ends: ucv1.StepFinished, says: []string{"STALLED CloudLoopsContended", "Deployment theirs/occm"},
		},
		"one that comes when everything is done is said": {
			scenario: with(func(s *Scenario) { s.Interventions = []Intervention{installs(Finished, none)} }),
			ends:     ucv1.StepHandover, reason: ucv1.CloudLoopsContendedReason, says: []string{"STALLED", "Deployment theirs/occm"},
		},
		"our own CCM once more is harmless": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{{Name: "starts our CCM by hand", When: nil, Do: InstallOurCCMAgain}}
			}),
			ends: ucv1.StepFinished, never: []string{"STALLED"},
		},
		"KCM gets its loops back when no one else runs them": {
			scenario: with(func(s *Scenario) {
				s.Interventions = []Intervention{
					{Name: "asks for the rollback", When: AtStep(ucv1.StepRoll), Do: func(w *World) { Rollback(w, true) }},
					installs(func(w *World) bool { return w.rollingBack() }, none),
					then(ucv1.ForeignObjectsReason, RemoveCCMs)[0],
				}
			}),
			ends: ucv1.StepRolledBack, says: []string{"STALLED ForeignObjects", "Deployment theirs/occm"},
		},
	})
}
