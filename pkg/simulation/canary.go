package simulation

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
)

// Canary is the workload of the canary: its objects by kind, and since when each is being deleted.
type Canary struct {
	w *World

	Objects []CanaryObject
}

// CanaryObject is one of its objects.
type CanaryObject struct {
	Kind, uid string
	DeletedAt time.Time
}

// createCanary makes what is missing, one object after the other.
func (c *Controller) createCanary(decision migration.Decision) bool {
	w, plan := c.world, decision.Next().Canary
	if w.Canary.Deployment() == nil {
		target := w.Machines.deployment(decision.Next().Objects[0].UID)
		if target == nil || !c.writes(target, observation.RefusedCanary, "") {
			return false
		}
		d := &MachineDeployment{
			Name:       ucv1.CanaryName,
			Namespace:  MachineNamespace,
			UID:        w.ID("md"),
			Replicas:   1,
			Generation: 1,
			Surge:      1,
			Guard:      Guard{Canary: true},
		}
		w.Machines.Deployments = append(w.Machines.Deployments, d)
	}
	for _, kind := range plan.Kinds() {
		if w.Hooks.Fate.Killed(decision) {
			return false
		}
		if !slices.ContainsFunc(w.Canary.Objects, func(o CanaryObject) bool { return o.Kind == kind }) {
			w.Canary.Objects = append(w.Canary.Objects, CanaryObject{Kind: kind, uid: w.ID("canary")})
		}
	}
	return true
}

func (c *Controller) removeCanary(decision migration.Decision) bool {
	w := c.world
	for _, ref := range decision.Next().Objects {
		if d := w.Canary.Deployment(); d != nil && d.UID == ref.UID {
			d.Delete(w.Now)
		}
		for i := range w.Canary.Objects {
			if w.Canary.Objects[i].uid == ref.UID {
				w.Canary.Objects[i].DeletedAt = w.Now
			}
		}
		if w.Hooks.Fate.Killed(decision) {
			return false
		}
	}
	return true
}

// step lets deleted objects go: a Service only while someone deletes its load balancer.
func (ca *Canary) step() {
	ca.Objects = slices.DeleteFunc(ca.Objects, func(o CanaryObject) bool {
		goes := o.Kind != "Service" || ca.w.CCM.Leader() != nil && !ca.w.Cloud.broken()
		return !o.DeletedAt.IsZero() && goes && ca.w.Chance(0.5)
	})
}

// Deployment is nil where there is none.
func (ca *Canary) Deployment() *MachineDeployment {
	at := slices.IndexFunc(ca.w.Machines.Deployments, func(d *MachineDeployment) bool { return d.Guard.Canary })
	if at < 0 {
		return nil
	}
	return ca.w.Machines.Deployments[at]
}

// Has says that a Machine is the canary's.
func (ca *Canary) Has(m *Machine) bool {
	s := ca.w.Machines.SetOf(m)
	return s != nil && s.ofCanary
}

// Node is nil until it has joined.
func (ca *Canary) Node() *Node {
	for _, m := range ca.w.Machines.All {
		if ca.Has(m) && !m.Deleting() {
			return ca.w.Nodes.Of(m)
		}
	}
	return nil
}

func (ca *Canary) observe() observation.CanaryWorkload {
	seen := observation.CanaryWorkload{}
	n := ca.Node()
	serves := n != nil && n.takesCanary()
	for _, object := range ca.Objects {
		seen.Objects = append(seen.Objects, observation.CanaryObject{
			Ref:           observation.Ref{Kind: object.Kind, Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName, UID: object.uid},
			DeletingSince: object.DeletedAt,
		})
		switch {
		case !serves:
		case object.Kind == "Pod":
			seen.PodNode, seen.PodReady = n.Name, n.CSI
		case object.Kind == "PersistentVolumeClaim" && n.CSI:
			seen.Volume, seen.Attached = "canary", true
		case object.Kind == "Service" && ca.w.CCM.Leader() != nil && !ca.w.Cloud.broken():
			seen.Ingress = []string{"192.0.2.99"}
		}
	}
	return seen
}

// takesCanary: its pod asks for a label that a Node has only when it was Ready.
func (n *Node) takesCanary() bool { return n.Ready && !n.Tainted && n.labeled }

func (ms *Machines) observeDrains() []observation.Drain {
	var drains []observation.Drain
	for _, m := range ms.All {
		pod := observation.DrainedPod{Namespace: "default", Name: "web-0"}
		switch {
		case !m.Deleting():
			continue
		case m.Stuck:
			pod.Budget = observation.Ref{Kind: "PodDisruptionBudget", Namespace: "default", Name: "web"}
		case ms.drainsForLong(m):
			pod.Going = true
		default:
			continue
		}
		drains = append(drains, observation.Drain{
			Machine: observation.Ref{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, UID: m.UID}, Node: m.Node,
			Pods: []observation.DrainedPod{pod},
		})
	}
	return drains
}

// ServesExternally says that it serves, and that its kubelet is external in truth.
func (n *Node) ServesExternally() bool { return n.External && n.serves() }

func (n *Node) serves() bool {
	return n.Ready && !n.Tainted && n.CSI && n.ProviderID == ProviderIDPrefix+n.Name
}
