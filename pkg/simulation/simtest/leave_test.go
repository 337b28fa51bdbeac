package simtest

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
)

// TestADeletedClusterIsLeftAttended has people take the CCM away before and after they delete the Cluster: it goes when a manager
// runs the cloud loops. The invariants see to that.
func TestADeletedClusterIsLeftAttended(t *testing.T) {
	t.Parallel()
	deletes := Intervention{Name: "deletes the Cluster", Do: DeleteCluster}
	closes := Intervention{Name: "closes the fence", Do: func(w *World) { LeaveFence(w, false) }}
	removes := Intervention{Name: "deletes the CCM", Do: DeleteCCM}
	loud := Intervention{
		Name: "puts the old arguments back", Lawless: true,
		Do: func(w *World) {
			ChangeKCM(w, "gitops", map[string]string{"cloud-provider": "simcloud", "controllers": "*"})
		},
	}
	silent := then(
		ucv1.CloudLoopsContendedReason, func(w *World) { ChangeKCM(w, "", map[string]string{"cloud-provider": "external"}) },
	)[0]
	rolls := func(w *World) bool { return w.invariants.restarts[w.Machines.Deployments[1].UID] > 0 }
	leads := func(w *World) bool { return w.last.Step == ucv1.StepRoll && w.CCM.Leader() != nil }
	at := func(when func(*World) bool, people ...Intervention) Scenario {
		return with(func(s *Scenario) {
			people[0].When = when
			s.Interventions = people
		})
	}
	for name, test := range map[string]struct {
		scenario Scenario
		says     []string
	}{
		"a fence that is closed in the middle of a MachineDeployment":  {at(rolls, deletes, closes), []string{"Opening the fence"}},
		"a fence that was closed before the Cluster is deleted":        {at(rolls, closes, deletes), []string{"Opening the fence"}},
		"a fence that is closed before the first MachineDeployment":    {at(leads, deletes, closes), nil},
		"a fence that is closed when everything is done":               {at(Finished, closes, deletes), []string{"Opening the fence"}},
		"a CCM that is deleted in the middle of a MachineDeployment":   {at(rolls, deletes, removes), []string{"Applying the CCM addon"}},
		"a CCM that is deleted when everything is done":                {at(Finished, removes, deletes), []string{"Applying the CCM addon"}},
		"a CCM that is deleted behind a closed fence":                  {at(Finished, removes, closes, deletes), []string{"Opening the fence"}},
		"a KCM that runs loops again in the middle of the roll":        {at(rolls, loud, deletes, silent), []string{"STALLED CloudLoopsContended"}},
		"a KCM that runs loops again in a Cluster that is deleted":     {at(rolls, deletes, loud, silent), nil},
		"a KCM that runs loops again when everything is done":          {at(Finished, loud, deletes, silent), []string{"STALLED CloudLoopsContended"}},
		"a KCM that runs loops again before the first of them is told": {at(leads, loud, deletes, silent), []string{"STALLED CloudLoopsContended"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for seed := range orders(10) {
				transcript, err := Run(seed, test.scenario)
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(transcript.Outcome.Released).To(BeTrue(), transcript.String())
				g.Expect(transcript.Outcome.Facts.Handover.FinishedAt).NotTo(BeNil(), transcript.String())
				g.Expect(transcript.Says(test.says...)).To(BeTrue(), transcript.String())
			}
		})
	}
}
