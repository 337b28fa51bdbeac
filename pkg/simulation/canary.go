package simulation

import (
	"slices"
	"time"

	ucv1 "github.com/ccm-migration/ccm-migration-controller/api/v1alpha1"
	"github.com/ccm-migration/ccm-migration-controller/pkg/migration"
	"github.com/ccm-migration/ccm-migration-controller/pkg/observation"
	"github.com/ccm-migration/ccm-migration-controller/pkg/outcome"
)

// canary is the workload of the canary: its objects by kind, and since when each is being deleted.
type canary struct {
	objects []canaryObject
}

type canaryObject struct {
	kind, uid string
	deletedAt time.Time
}

// createCanary makes what is missing, one object after the other.
func (c *Controller) createCanary(decision migration.Decision) bool {
	w, plan := c.world, decision.Action.Canary
	if w.canaryDeployment() == nil {
		if w.webhookRefuses() {
			return false
		}
		d := &machineDeployment{
			name:       ucv1.CanaryName,
			namespace:  machineNamespace,
			uid:        w.id("md"),
			replicas:   1,
			generation: 1,
			surge:      1,
			guard:      guard{canary: true},
		}
		w.deployments = append(w.deployments, d)
	}
	for _, kind := range plan.Kinds() {
		if w.hooks.Killed(decision) {
			return false
		}
		if !slices.ContainsFunc(w.canary.objects, func(o canaryObject) bool { return o.kind == kind }) {
			w.canary.objects = append(w.canary.objects, canaryObject{kind: kind, uid: w.id("canary")})
		}
	}
	return true
}

func (c *Controller) removeCanary(decision migration.Decision) bool {
	w := c.world
	for _, ref := range decision.Action.Objects {
		if d := w.canaryDeployment(); d != nil && d.uid == ref.UID {
			d.deleting = true
		}
		for i := range w.canary.objects {
			if w.canary.objects[i].uid == ref.UID {
				w.canary.objects[i].deletedAt = w.now
			}
		}
		if w.hooks.Killed(decision) {
			return false
		}
	}
	return true
}

// stepCanary lets deleted objects go: a Service only while someone deletes its load balancer.
func (w *World) stepCanary() {
	w.canary.objects = slices.DeleteFunc(w.canary.objects, func(o canaryObject) bool {
		goes := o.kind != "Service" || w.ccmLeader() != nil && !w.cloudBroken()
		return !o.deletedAt.IsZero() && goes && w.chance(0.5)
	})
}

func (w *World) canaryDeployment() *machineDeployment {
	at := slices.IndexFunc(w.deployments, func(d *machineDeployment) bool { return d.guard.canary })
	if at < 0 {
		return nil
	}
	return w.deployments[at]
}

func (w *World) isCanary(m *machine) bool {
	s, d := w.setOf(m), w.canaryDeployment()
	return s != nil && d != nil && s.deployment == d.uid
}

// canaryNode is nil until it has joined.
func (w *World) canaryNode() *node {
	for _, m := range w.machines {
		if w.isCanary(m) && !m.deleting() {
			return w.nodeOf(m)
		}
	}
	return nil
}

func (w *World) observeCanary() observation.CanaryWorkload {
	seen := observation.CanaryWorkload{}
	n := w.canaryNode()
	serves := n != nil && n.ready && !n.tainted
	for _, object := range w.canary.objects {
		seen.Objects = append(seen.Objects, observation.CanaryObject{
			Ref:           observation.Ref{Kind: object.kind, Namespace: ucv1.CanaryNamespace, Name: ucv1.CanaryName, UID: object.uid},
			DeletingSince: object.deletedAt,
		})
		switch {
		case !serves:
		case object.kind == "Pod":
			seen.PodNode, seen.PodReady = n.name, n.csi
		case object.kind == "PersistentVolumeClaim" && n.csi:
			seen.Volume, seen.Attached = "canary", true
		case object.kind == "Service" && w.ccmLeader() != nil && !w.cloudBroken():
			seen.Ingress = []string{"192.0.2.99"}
		}
	}
	return seen
}

func (w *World) observeDrains() []observation.Drain {
	var drains []observation.Drain
	for _, m := range w.machines {
		if m.deleting() && m.stuck {
			drains = append(drains, observation.Drain{
				Machine: observation.Ref{Kind: "Machine", Namespace: m.namespace, Name: m.name, UID: m.uid}, Node: m.node,
				Pods: []observation.DrainedPod{{Namespace: "default", Name: "web-0", Budget: "PodDisruptionBudget default/web"}},
			})
		}
	}
	return drains
}

// checkCanary: no MachineDeployment with Machines is rolled before the canary was proven, and what counts as proven is so: its
// Node serves, and its kubelet is external in truth.
func (i *invariants) checkCanary(w *World, o observation.Observation, d migration.Decision) {
	kind := o.Cluster.Spec.Rollout.Canary
	if facts := w.facts(); provenCanary(&facts) {
		return
	}
	if !w.undoing() && (kind == "" || kind == ucv1.CanaryMachine) {
		for _, pool := range o.Machines.Value().Deployments {
			if pool.Replicas > 0 && isRolled(d.Action, pool.Ref) {
				i.fail("rule 9: %s is rolled before the canary was proven", pool.Ref)
			}
		}
	}
	if n := w.canaryNode(); provenCanary(d.Facts) && (n == nil || !n.servesExternally()) {
		i.fail("rule 9: the canary counts as proven, and its Node is not")
	}
}

func isRolled(action *outcome.Action, ref observation.Ref) bool {
	return action != nil && action.Kind == outcome.ActionRollMachineDeployment && slices.Contains(action.Objects, ref)
}

func provenCanary(facts *ucv1.Facts) bool {
	return facts != nil && facts.Canary != nil && facts.Canary.ProvenAt != nil
}

func (n *node) servesExternally() bool { return n.external && n.serves() }

func (n *node) serves() bool {
	return n.ready && !n.tainted && n.csi && n.providerID == providerIDPrefix+n.name
}
