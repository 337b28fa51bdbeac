package simtest

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

func TestVolumesAreRegisteredWithinAnInterval(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := with(func(s *Scenario) { s.RegisteredBy, s.MaxTicks = "volumes.example.com", 4000 })
	var configured, rolled time.Duration
	s.Interventions = []Intervention{
		{
			Name: "sees the machine-controller",
			When: func(w *World) bool { return w.Facts().MachineControllerConfiguredAt != nil },
			Do:   func(w *World) { configured = w.Elapsed() },
		},
		{Name: "sees the first roll", When: rolling, Do: func(w *World) { rolled = w.Elapsed() }},
	}
	transcript, err := Run(1, s)
	g.Expect(err).NotTo(HaveOccurred(), transcript.String())
	g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished))
	g.Expect(transcript.Says("waits RegisteringVolumes", "PersistentVolume data")).To(BeTrue(), transcript.String())
	g.Expect(rolled-configured).To(BeNumerically("~", observation.RegistrationInterval, 10*time.Second), "nothing is drained "+
		"before, and then it goes on")
}

func TestTheWaitForVolumesIsForeseenWithoutGoingThroughIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		by   string
		want time.Duration
	}{
		"registered by the driver": {"volumes.example.com", observation.RegistrationInterval},
		"another driver":           {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := with(func(s *Scenario) { s.RegisteredBy = test.by })
			future := simulation.Foresee(StartOf(NewWorld(rand.New(rand.NewPCG(1, 1)), s)))
			g.Expect(future.Endless).To(BeFalse())
			g.Expect(future.Last.Step).To(Equal(ucv1.StepFinished), "%+v", future.Last)
			g.Expect(future.Registering).To(BeNumerically("~", test.want, time.Minute))
			g.Expect(
				slices.ContainsFunc(
					future.Passes, func(f simulation.Foreseen) bool { return does(f.Decision, outcome.ActionRollMachineDeployment) },
				),
			).To(BeTrue())
		})
	}
}
