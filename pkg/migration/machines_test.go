package migration

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/rollout"
	"github.com/ccm-migration/ccm-migration-controller/test/messages"
)

type upToDateCase struct {
	when func(*ucv1.Facts, *observation.Machine, *observation.MachineSet)
	want bool
}

func TestUpToDate(t *testing.T) {
	made := func(restart string) func(*ucv1.Facts, *observation.Machine, *observation.MachineSet) {
		return func(_ *ucv1.Facts, _ *observation.Machine, s *observation.MachineSet) {
			s.RestartValue, s.CreatedAt = restart, ago(24*time.Hour)
		}
	}
	tests := map[string]upToDateCase{
		"a Machine of our revision with the annotation is up-to-date": {want: true},
		"the annotation alone proves nothing":                         {when: made("")},
		"our revision without the annotation is outdated": {
			when: func(_ *ucv1.Facts, m *observation.Machine, _ *observation.MachineSet) { m.Annotation = "" },
		},
		"our revision with annotation false is outdated": {
			when: func(_ *ucv1.Facts, m *observation.Machine, _ *observation.MachineSet) { m.Annotation = "false" },
		},
		"a revision that was made after the flags is up-to-date without our value": {
			when: func(_ *ucv1.Facts, _ *observation.Machine, s *observation.MachineSet) { s.RestartValue = "" }, want: true,
		},
		"a revision that was made in the second of the flags is outdated": {
			when: func(v *ucv1.Facts, _ *observation.Machine, s *observation.MachineSet) {
				s.RestartValue, s.CreatedAt = "", v.MachineControllerConfiguredAt.Time
			},
		},
		"someone else's forceRestart value is not ours": {when: made("other")},
		"before our value is made, an empty one does not match": {
			when: func(v *ucv1.Facts, m *observation.Machine, s *observation.MachineSet) {
				v.RollGeneration = ""
				made("")(v, m, s)
			},
		},
		"before the flags are in place, age proves nothing": {
			when: func(v *ucv1.Facts, _ *observation.Machine, s *observation.MachineSet) {
				v.MachineControllerConfiguredAt, s.RestartValue = nil, ""
			},
		},
		"a standalone Machine that was made after the flags is up-to-date": {
			when: func(_ *ucv1.Facts, m *observation.Machine, _ *observation.MachineSet) { m.Set = "" }, want: true,
		},
		"a standalone Machine that was made before the flags is outdated": {
			when: func(_ *ucv1.Facts, m *observation.Machine, _ *observation.MachineSet) {
				m.Set, m.CreatedAt = "", ago(24*time.Hour)
			},
		},
		"a new Machine of an old revision is outdated: its kubelet is": {
			when: func(_ *ucv1.Facts, m *observation.Machine, s *observation.MachineSet) {
				made("")(nil, nil, s)
				m.CreatedAt = noon()
			},
		},
		"a Machine whose MachineSet is gone is outdated": {
			when: func(_ *ucv1.Facts, m *observation.Machine, _ *observation.MachineSet) { m.Set = "gone" },
		},
	}
	runUpToDate(t, tests)
}

func runUpToDate(t *testing.T, tests map[string]upToDateCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g, o, machines := NewWithT(t), verifying(), oneMachine()
			if test.when != nil {
				test.when(&o.Cluster.Status.Facts, &machines.Machines[0], &machines.Sets[0])
			}
			o.Machines = observation.Known(machines)
			progress, ok := rollout.ProgressOf(o, noon())
			g.Expect(ok).To(BeTrue())
			g.Expect(progress.Machines.UpToDate).To(Equal(map[bool]int32{true: 1}[test.want]))
		})
	}
}

func TestProgress(t *testing.T) {
	tests := map[string]struct {
		when func(*Observation)
		want rollout.Progress
		ok   bool
	}{
		"a migrated cluster is all up-to-date": {
			want: rollout.Progress{
				Machines: ucv1.ProgressCount{Total: 1, UpToDate: 1}, MachineDeployments: ucv1.ProgressCount{Total: 1, UpToDate: 1},
				Nodes: ucv1.NodeCount{Total: 1, Initialized: 1},
			},
			ok: true,
		},
		"an outdated, a paused and a standalone one are counted": {
			when: func(o *Observation) {
				machines := outdated()
				machines.Deployments[0].Paused = true
				machines.Machines = append(machines.Machines, observation.Machine{Ref: observation.Ref{Kind: "Machine", Name: "alone"}})
				o.Machines = observation.Known(machines)
			},
			want: rollout.Progress{
				Machines: ucv1.ProgressCount{Total: 2, Blocked: 1}, MachineDeployments: ucv1.ProgressCount{Total: 1, Blocked: 1},
				Nodes: ucv1.NodeCount{Total: 1, Initialized: 1},
			},
			ok: true,
		},
		"a Machine that missed its deadline is blocked": {
			when: func(o *Observation) { edit(&o.Nodes, func(n *[]observation.Node) { (*n)[0].Uninitialized = true }) },
			want: rollout.Progress{
				Machines: ucv1.ProgressCount{Total: 1, UpToDate: 1, Blocked: 1}, MachineDeployments: ucv1.ProgressCount{Total: 1},
				Nodes: ucv1.NodeCount{Total: 1},
			},
			ok: true,
		},
		"without the CRDs there is nothing to count": {
			when: func(o *Observation) { o.Machines = observation.Absent[observation.Machines]() },
			want: rollout.Progress{Nodes: ucv1.NodeCount{Total: 1, Initialized: 1}}, ok: true,
		},
		"Machines that cannot be looked at are not counted": {
			when: func(o *Observation) { o.Machines = observation.Unknown[observation.Machines]("timeout") },
		},
		"Nodes that cannot be looked at are not counted": {
			when: func(o *Observation) { o.Nodes = observation.Unknown[[]observation.Node]("timeout") },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := finished()
			if test.when != nil {
				test.when(&o)
			}
			progress, ok := rollout.ProgressOf(o, noon())
			g.Expect(ok).To(Equal(test.ok))
			progress.Nodes.Proven = nil // TestProvenKubeletsAreCounted has them.
			g.Expect(progress).To(Equal(test.want))
		})
	}
}

func TestDeadlineComesFromTheSpec(t *testing.T) {
	g := NewWithT(t)
	o := finished()
	edit(&o.Machines, func(m *observation.Machines) {
		m.Machines[0].NodeName, m.Machines[0].CreatedAt = "", ago(8*time.Second)
	})
	for seconds, late := range map[int32]int32{7: 1, 9: 0} {
		o.Cluster.Spec.Rollout.NodeDeadlineSeconds = &seconds
		progress, ok := rollout.ProgressOf(o, noon())
		g.Expect(ok).To(BeTrue())
		g.Expect(progress.Machines.Blocked).To(Equal(late), "after 8 s, with a deadline of %d s", seconds)
	}
}

func TestAddonStates(t *testing.T) {
	row := RowState{Step: ucv1.StepAddons, Holds: true, Reason: ucv1.HoldsReason}
	tests := map[string]struct {
		when     func(*Observation)
		row      RowState
		csi, ccm string
	}{
		"both hold when the CCM leads": {row: row, csi: ucv1.HoldsReason, ccm: ucv1.HoldsReason},
		"a CCM that lost its Lease is not ready": {
			row: row, when: func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() }, csi: ucv1.HoldsReason,
			ccm: ucv1.WaitingForLeaderReason,
		},
		"what waits for an earlier step waits in both": {
			row: RowState{Reason: ucv1.WaitingForEarlierStepReason}, csi: ucv1.WaitingForEarlierStepReason,
			ccm: ucv1.WaitingForEarlierStepReason,
		},
		"addons that cannot be looked at are unknown in both": {
			row: row, when: func(o *Observation) { o.Addons = observation.Unknown[observation.Addons]("timeout") },
			csi: ucv1.CouldNotLookReason, ccm: ucv1.CouldNotLookReason,
		},
		"each says what it lacks": {
			row: row, when: func(o *Observation) {
				o.Addons = observation.Known(observation.Addons{CSI: observation.AddonSet{Foreign: messages.Said("x")},
					CCM: observation.AddonSet{Drifted: []observation.Ref{{Kind: "Deployment", Name: "ccm"}}}})
			},
			csi: ucv1.ForeignObjectsReason, ccm: ucv1.ActingReason,
		},
		"pending workloads are NoNodes, broken ones are not": {
			row: row, when: func(o *Observation) {
				o.Addons = observation.Known(observation.Addons{CSI: observation.AddonSet{Unhealthy: messages.Said("x")},
					CCM: observation.AddonSet{Unhealthy: messages.Said("x"), Unschedulable: true}})
			},
			csi: ucv1.RollingOutReason, ccm: ucv1.NoNodesReason,
		},
		"what another tool has taken over and changed is unknown": {
			row: RowState{Holds: true, Reason: ucv1.AddonsReleasedReason}, when: func(o *Observation) {
				o.Addons = observation.Known(observation.Addons{CSI: observation.AddonSet{Foreign: messages.Said("x")},
					CCM: observation.AddonSet{Drifted: []observation.Ref{{Kind: "Deployment", Name: "ccm"}}}})
			},
			csi: ucv1.AddonsReleasedReason, ccm: ucv1.AddonsReleasedReason,
		},
		"what another tool has taken over and left alone is looked at": {
			row:  RowState{Holds: true, Reason: ucv1.AddonsReleasedReason},
			when: func(o *Observation) { o.CCMLease = observation.Absent[observation.Lease]() },
			csi:  ucv1.HoldsReason, ccm: ucv1.WaitingForLeaderReason,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := finished()
			if test.when != nil {
				test.when(&o)
			}
			csi, ccm := addonStates(o, test.row, noon())
			g.Expect([]string{csi.Reason, ccm.Reason}).To(Equal([]string{test.csi, test.ccm}))
		})
	}
}
