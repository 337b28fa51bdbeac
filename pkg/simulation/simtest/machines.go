package simtest

import "github.com/ccm-migration/ccm-migration-controller/pkg/simulation"

func makeMachines(w *World) {
	for _, p := range w.scenario.Pools {
		addDeployment(w, p)
	}
	for _, name := range w.scenario.Standalone {
		m := &simulation.Machine{
			Name: name, Namespace: simulation.MachineNamespace, UID: w.ID("machine"), Annotation: "false", CreatedAt: w.Now,
		}
		w.Machines.All = append(w.Machines.All, m)
		w.Machines.Join(m)
	}
	for _, name := range w.scenario.Strangers {
		w.Nodes.Add(&simulation.Node{
			Name: name, UID: w.ID("node"), Ready: true, ProviderID: simulation.ProviderIDPrefix + name, CreatedAt: w.Now,
		})
	}
	for _, n := range w.Nodes.All {
		n.Ready, n.Tainted = true, false
	}
}

// addDeployment with all its Machines up: the steady state before the run.
func addDeployment(w *World, p Pool) *simulation.MachineDeployment {
	namespace := p.Namespace
	if namespace == "" {
		namespace = simulation.MachineNamespace
	}
	d := &simulation.MachineDeployment{
		Name:        p.Name,
		Namespace:   namespace,
		UID:         w.ID("md"),
		Replicas:    p.Replicas,
		Paused:      p.Paused,
		Generation:  1,
		Observed:    1,
		Settled:     true,
		Surge:       p.surge(),
		Unavailable: p.Unavailable,
		Webhook: simulation.Webhook{
			RefusesFrom: w.Now.Add(p.RefusedAfter), RefusesUntil: w.Now.Add(p.RefusedAfter + p.RefusedFor), Refuses: p.Refuses,
		},
	}
	if p.RewritesAfter > 0 {
		d.Webhook.RewritesFrom = w.Now.Add(p.RewritesAfter)
	}
	w.Machines.Deployments = append(w.Machines.Deployments, d)
	set := w.Machines.CreateSet(d)
	set.Replicas = d.Replicas
	for range d.Replicas {
		w.Machines.Join(w.Machines.Create(d, set))
	}
	return d
}
