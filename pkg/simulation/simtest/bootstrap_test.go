package simtest

import (
	"testing"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/simulation"
)

// fixesProfiles is what a person does whom either of two reasons calls: the data, or the Node that came from it.
func fixesProfiles() Intervention {
	return Intervention{Name: "takes the in-tree flag out of the profile", Do: FixProfiles, When: func(w *World) bool {
		return Stalled(ucv1.BootstrapDataNotExternalReason)(w) || Stalled(ucv1.KubeletsNotExternalReason)(w) || Finished(w)
	}}
}

// What new Machines boot with is known before they are Nodes: the roll stands still for it, whichever MachineDeployment it is of.
func TestBootstrapDataIsExternalBeforeMoreIsRolled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Scenario)
		says   []string
		never  string
	}{
		"the canary's is in-tree, and it is named": {
			func(s *Scenario) { s.InTreeProfiles = []string{"a"} },
			[]string{"STALLED BootstrapDataNotExternal", "ccm-migration-canary", "--cloud-provider=external"},
			"STALLED CanaryFailed",
		},
		"that of the next MachineDeployment is in-tree, and it is the last": {
			func(s *Scenario) { s.InTreeProfiles = []string{"b"} },
			[]string{"waits WaitingForBootstrapData", "Secret cloud-init-settings/b-kube-system-provisioning-config"}, "",
		},
		"it is written late": {
			func(s *Scenario) { s.SlowBootstrap = 6 * simulation.Tick },
			[]string{"waits WaitingForBootstrapData", "newest revision"}, "STALLED",
		},
		"it is written too late, and a person is called until it is": {
			func(s *Scenario) { s.SlowBootstrap = 14 * simulation.Tick },
			[]string{"STALLED BootstrapDataNotExternal", "newest revision"}, "STALLED CanaryFailed",
		},
		"annotations have it written again and again, before the roll, too": {
			func(s *Scenario) { s.AnnotatedEvery = 3 * simulation.Tick }, nil, "STALLED",
		},
		"it is not understood, and the Nodes decide": {
			func(s *Scenario) { s.UnreadBootstrap = observation.BootstrapNotTold }, nil, "WaitingForBootstrapData",
		},
		"it may not be read, and the Nodes decide": {
			func(s *Scenario) {
				s.UnreadBootstrap, s.SlowBootstrap = observation.BootstrapRefused, 3*simulation.Tick
			}, nil, "STALLED",
		},
		"there is none": {func(s *Scenario) { s.WithoutOperatingSystemManager = true }, nil, "BootstrapData"},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range orders(20) {
				g := NewWithT(t)
				transcript, err := Run(seed, with(func(s *Scenario) {
					s.Pools, s.Interventions = []Pool{{Name: "a", Replicas: 2}, {Name: "b", Replicas: 2}}, []Intervention{fixesProfiles()}
					test.change(s)
				}))
				g.Expect(err).NotTo(HaveOccurred(), transcript.String())
				g.Expect(transcript.Outcome.Step).To(Equal(ucv1.StepFinished), transcript.String())
				g.Expect(transcript.Says(test.says...)).To(BeTrue(), transcript.String())
				if test.never != "" {
					g.Expect(transcript.Says(test.never)).To(BeFalse(), transcript.String())
				}
			}
		})
	}
}
