package preflight

import (
	"time"

	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

func machines(change func(*observation.Machines)) func(*Facts) {
	return func(o *Facts) {
		edit(&o.Machines, func(m *observation.Machines) {
			m.Deployments = append([]observation.MachineDeployment{}, m.Deployments...)
			m.Machines = append([]observation.Machine{}, m.Machines...)
			change(m)
		})
	}
}

func firstMachine(change func(*observation.Machine)) func(*Facts) {
	return machines(func(m *observation.Machines) { change(&m.Machines[0]) })
}

func pool(change func(*Pool)) func(*Facts) {
	return func(o *Facts) { editFirst(&o.Pools, change) }
}

func noMachinesSeen(o *Facts) { blind(&o.Machines) }
func noPoolsSeen(o *Facts)    { blind(&o.Pools) }

func machineStories() map[string]story {
	m1, workers := []string{"Machine kube-system/m-n1"}, []string{"MachineDeployment kube-system/workers"}
	going := func(since time.Duration) func(*Facts) {
		return firstMachine(func(m *observation.Machine) { m.Deleting, m.DeletingSince = true, noon().Add(-since) })
	}
	stranger := func(o *Facts) {
		o.NodeDetails = observation.Known(append([]NodeDetail{detail("n9", "10.0.9.0/24")}, o.NodeDetails.Value()...))
	}
	return map[string]story{
		"a MachineDeployment is paused": {
			id: "MachineDeploymentPaused", wrong: machines(func(m *observation.Machines) { m.Deployments[0].Paused = true }),
			severity: observation.Warning, objects: workers, says: "paused", without: noMachinesSeen,
		},
		"a Machine stands alone": {
			id: "MachineStandalone", wrong: firstMachine(func(m *observation.Machine) { m.Set = "" }),
			severity: observation.Warning, objects: m1, says: "no MachineDeployment", without: noMachinesSeen,
		},
		"a Node has no Machine": {
			id: "NodeWithoutMachine", wrong: stranger, severity: observation.Warning, objects: []string{"Node n9"},
			says: "belong to no Machine", without: noMachinesSeen,
		},
		"a Node has no Machine, and another is vouched for": {
			id: "NodeWithoutMachine", given: func(o *Facts) { stranger(o); o.Cluster.Spec.Rollout.AcceptNodes = []string{"n9"} },
			wrong: func(o *Facts) { o.Cluster.Spec.Rollout.AcceptNodes = nil }, severity: observation.Warning,
			objects: []string{"Node n9"}, says: "belong to no Machine", without: noDetailsSeen,
		},
		"a Node of the control plane loses its label": {
			id: "NodeWithoutMachine", given: func(o *Facts) { stranger(o); firstDetail(func(n *NodeDetail) { n.ControlPlane = true })(o) },
			wrong: firstDetail(func(n *NodeDetail) { n.ControlPlane = false }), severity: observation.Warning,
			objects: []string{"Node n9"}, says: "belong to no Machine", without: noDetailsSeen,
		},
		"a Machine does not go": {
			id: "MachineStuck", given: going(time.Hour), wrong: going(3 * time.Hour), severity: observation.Warning, objects: m1,
			says: "two hours", without: noMachinesSeen,
		},
		"a Machine has an error": {
			id: "MachineStuck", wrong: firstMachine(func(m *observation.Machine) { m.Problem = "InvalidConfiguration: no flavor" }),
			severity: observation.Warning, objects: m1, says: "report an error", without: noMachinesSeen,
		},
		"the cloud has no room": {
			id: "QuotaExceeded", given: firstMachine(func(m *observation.Machine) { m.Problem = "InvalidConfiguration: no flavor" }),
			wrong:    firstMachine(func(m *observation.Machine) { m.Problem = "CreateError: Quota exceeded for cores" }),
			severity: observation.Blocking, objects: m1, says: "no room", without: noMachinesSeen,
		},
	}
}

func poolStories() map[string]story {
	workers := []string{"MachineDeployment kube-system/workers"}
	return map[string]story{
		"a tool writes a MachineDeployment": {
			id: "MachineDeploymentManaged", wrong: pool(func(p *Pool) { p.Tool = "Argo CD" }), severity: observation.Warning,
			objects: workers, says: "Argo CD", without: noPoolsSeen,
		},
		"a webhook refuses any write of a MachineDeployment": {
			id: "MachineDeploymentRefused", wrong: pool(func(p *Pool) { p.Write = observation.Known(Write{Refused: "webhook m"}) }),
			severity: observation.Blocking, objects: workers, says: "webhook m",
			without: pool(func(p *Pool) { p.Write = observation.Unknown[Write]("timeout") }),
		},
		"a webhook changes a template at any write": {
			id: "MachineDeploymentRewritten", wrong: pool(func(p *Pool) { p.Write = observation.Known(Write{Rewritten: true}) }),
			severity: observation.Info, objects: workers, says: "at any write", without: noPoolsSeen,
		},
		"an autoscaler runs": {
			id:       "AutoscalerPresent",
			wrong:    pods(Pods{Autoscalers: []observation.Ref{{Kind: "Pod", Namespace: "kube-system", Name: "ca"}}}),
			severity: observation.Warning, objects: []string{"Pod kube-system/ca"}, says: "cluster-autoscaler", without: noPodsSeen,
		},
		"a MachineDeployment is scaled by itself": {
			id: "AutoscalerPresent", wrong: pool(func(p *Pool) { p.Autoscaled = true }), severity: observation.Warning, objects: workers,
			says: "cluster-autoscaler", without: noPoolsSeen,
		},
	}
}

func budget(change func(*Budget)) func(*Facts) {
	return func(o *Facts) { editFirst(&o.Budgets, change) }
}

func disruptionStories() map[string]story {
	web := []string{"PodDisruptionBudget default/web"}
	noBudgetsSeen := func(o *Facts) { blind(&o.Budgets) }
	return map[string]story{
		"a budget never allows anything": {
			id: "DisruptionBudgetNeverAllows", given: budget(func(b *Budget) { b.Expected, b.Healthy, b.Allowed = 0, 0, 0 }),
			wrong: budget(func(b *Budget) { b.Expected, b.Healthy = 1, 1 }), severity: observation.Blocking, objects: web,
			says: "uses force", without: noBudgetsSeen,
		},
		"a budget never allows anything on vSphere": {
			id: "DisruptionBudgetNeverAllows", given: func(o *Facts) {
				edit(&o.Provider, func(p *observation.Provider) { p.DetachesFirst = true })
			}, wrong: budget(func(b *Budget) { b.Expected, b.Healthy, b.Allowed = 1, 1, 0 }), severity: observation.Blocking, objects: web,
			says: "deletes those with attached volumes at once", without: func(o *Facts) { blind(&o.Provider) },
		},
		"a budget is spent": {
			id: "DisruptionBudgetExhausted", given: budget(func(b *Budget) { b.Healthy, b.Allowed, b.Stale = 2, 0, true }),
			wrong: budget(func(b *Budget) { b.Stale = false }), severity: observation.Warning, objects: web, says: "not healthy",
			without: noBudgetsSeen,
		},
		"no one knows the quota": {
			id: "QuotaUnknown", wrong: pool(func(p *Pool) { p.Surge = 3 }), severity: observation.Warning, says: "3 in all", unseen: true,
			without: noPoolsSeen,
		},
		"Machines that are being drained keep their instances": {
			id: "QuotaUnknown", wrong: pool(func(p *Pool) { p.Replicas, p.Surge = 5, 1 }), severity: observation.Warning,
			says: "for 1 in all, and for up to 5", unseen: true, without: noPoolsSeen,
		},
		"Machines that are being drained keep their instances where there is no surge": {
			id: "QuotaUnknown", wrong: pool(func(p *Pool) { p.Replicas = 5 }), severity: observation.Warning, says: "for up to 5", unseen: true,
			without: noPoolsSeen,
		},
	}
}
