package rollout

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// A MachineDeployment that is paused blocks the roll before a step is asked for; this is the second lock.
func TestNothingIsGrantedWhilePaused(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	d := observation.MachineDeployment{
		Ref: observation.Ref{
			Kind: "MachineDeployment",
			Name: "workers",
			UID:  "d",
		},
		Replicas:     1,
		MaxSurge:     1,
		RestartValue: "ours",
		Guard:        observation.Guard{MinReadyOurs: true},
	}
	set := func(uid string, current bool) observation.MachineSet {
		return observation.MachineSet{Ref: observation.Ref{Name: uid, UID: uid}, Deployment: "d", Current: current, Replicas: 1}
	}
	machine := func(name, set string) observation.Machine {
		return observation.Machine{Ref: observation.Ref{Name: name, UID: name}, Set: set, NodeName: name}
	}
	o := observation.Observation{
		Cluster:  &ucv1.Cluster{},
		Provider: observation.Known(observation.Provider{ProviderIDPrefix: "cloud://"}),
		Machines: observation.Known(observation.Machines{
			Deployments: []observation.MachineDeployment{d},
			Sets:        []observation.MachineSet{set("new", true), set("old", false)},
			Machines:    []observation.Machine{machine("new-1", "new"), machine("old-1", "old")},
		}),
		Nodes: observation.Known([]observation.Node{
			{
				Name:       "new-1",
				Ready:      true,
				ProviderID: "cloud:///1",
				Kubelet:    observation.Kubelet{External: observation.TaintSeen},
			},
			{Name: "old-1", Ready: true},
		}),
	}
	o.Cluster.Status.RollGeneration = "ours"
	view := viewOf(inputOf(Of(o, now)))
	_, may := grantFor(view, d)
	g.Expect(may).To(BeTrue())
	d.Paused = true
	_, may = grantFor(view, d)
	g.Expect(may).To(BeFalse())
}
